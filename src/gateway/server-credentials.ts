import { constants, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { TlsOptions } from "node:tls";
import type { Logger } from "../log.ts";

/** The gateway's own certificate, and the authorities of its callers': files in PEM. */
export interface ServerFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
  /** How often they are read again, in ms. */
  readonly period?: number;
}

/**
 * Reads the files. A caller shows its certificate for each connection: none is resumed from an earlier one. Throws a sentence
 * that names the file that cannot be read.
 */
export async function readCredentials({ certFile, keyFile, clientCaFile }: ServerFiles): Promise<Credentials> {
  const read = async (file: string): Promise<string> =>
    await readFile(file, "utf8").catch((cause: unknown) => {
      throw new Error(`cannot serve Temporal's gateway: ${file} cannot be read`, { cause });
    });
  const [cert, key, ca] = [await read(certFile), await read(keyFile), await read(clientCaFile)];
  for (const certificate of [cert, ca]) void new X509Certificate(certificate);
  return { cert, key, ca, minVersion: "TLSv1.2", secureOptions: constants.SSL_OP_NO_TICKET };
}

type Credentials = Pick<TlsOptions, "cert" | "key" | "ca" | "minVersion" | "secureOptions">;

/** Has new connections follow the files until it is stopped. */
export function followCredentials(server: Following, files: ServerFiles, log: Logger): { stop(): void } {
  const follow = async () => server.setSecureContext(await readCredentials(files));
  const tryToFollow = () =>
    void follow().catch((error: unknown) => log.warn({ err: error }, "cannot read certificates"));
  const timer = setInterval(tryToFollow, files.period ?? 30_000).unref();
  return { stop: () => clearInterval(timer) };
}

/** A server of TLS. */
interface Following {
  setSecureContext(credentials: Credentials): void;
}
