import { X509Certificate, createPrivateKey } from "node:crypto";
import { watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../log.ts";
import type { ServingCertificate } from "./server.ts";

/** The certificate in a mounted Secret of type kubernetes.io/tls; throws when certificate and key do not belong together. */
export async function readCertificateFiles(directory: string): Promise<ServingCertificate> {
  const [cert, key] = await Promise.all(["tls.crt", "tls.key"].map((name) => readFile(join(directory, name), "utf8")));
  if (!cert || !key || !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error(`cannot use the certificate in ${directory}: tls.crt and tls.key do not belong together`);
  }
  return { cert, key };
}

/**
 * Hands on every new certificate in the directory until `signal` ends. A mounted Secret changes by a link inside it, so
 * the directory is watched, not the files; what is half written is left until it is whole.
 */
export async function followCertificateFiles(o: {
  readonly directory: string;
  readonly renew: (certificate: ServingCertificate) => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
}): Promise<void> {
  const { directory, renew, signal, log } = o;
  let changed = Promise.withResolvers<void>();
  const watcher = watch(directory, { signal }, () => changed.resolve()); // before the first read: what changes meanwhile counts
  watcher.on("error", (error) => log.error({ err: error, directory }, "cannot watch the certificate's directory"));
  signal.addEventListener("abort", () => changed.resolve(), { once: true });
  let served = await readCertificateFiles(directory).catch((error: unknown) => {
    watcher.close();
    throw error;
  });
  renew(served);
  while (!signal.aborted) {
    await changed.promise;
    changed = Promise.withResolvers<void>();
    await sleep(settle, undefined, { signal }).catch(() => undefined);
    const found = await readCertificateFiles(directory).catch(() => served);
    if (signal.aborted || found.cert === served.cert) continue;
    served = found;
    renew(served);
    log.info({ directory }, "certificate renewed");
  }
}

/** Certificate and key are two files: time, in ms, to write the other one. */
const settle = 100;
