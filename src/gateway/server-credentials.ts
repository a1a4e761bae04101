import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { experimental, type ServerCredentials } from "@grpc/grpc-js";

/** The gateway's own certificate, and the authorities of its callers': files in PEM. */
export interface ServerFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string;
  /** How often they are read again, in ms. */
  readonly period?: number;
}

/**
 * TLS that asks every caller for a certificate, and turns away those that none of the authorities has signed. It follows the
 * files. Throws a sentence that names the file when one cannot be read at the beginning.
 */
export async function serverCredentials(files: ServerFiles): Promise<ServerCredentials> {
  const { certFile, keyFile, clientCaFile, period = 30_000 } = files;
  for (const file of [certFile, keyFile, clientCaFile]) {
    const text = await readFile(file, "utf8").catch((cause: unknown) => {
      throw new Error(`cannot serve Temporal's gateway: ${file} cannot be read`, { cause });
    });
    if (file !== keyFile) void new X509Certificate(text);
  }
  const provider = new experimental.FileWatcherCertificateProvider({
    certificateFile: certFile,
    privateKeyFile: keyFile,
    caCertificateFile: clientCaFile,
    refreshIntervalMs: period,
  });
  return experimental.createCertificateProviderServerCredentials(provider, provider, true);
}
