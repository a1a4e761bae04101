import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import {
  createWebhookServer,
  followCertificateFiles,
  makeServingCertificate,
  readCertificateFiles,
  type ServingCertificate,
} from "../../../src/admission/index.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

test("a new certificate is used once it and its key are there", async () => {
  const directory = await mkdtemp(join(tmpdir(), "perennial-certificate-"));
  const [first, second] = await Promise.all([makeServingCertificate(["a"]), makeServingCertificate(["a"])]);
  await write(directory, first);
  const used: string[] = [];
  const stop = new AbortController();
  const log = createLogger({ name: "test", level: "silent" });
  const renew = ({ cert }: ServingCertificate) => void used.push(cert);
  const following = followCertificateFiles({ directory, renew, signal: stop.signal, log });
  await eventually(() => used.length === 1);

  await writeFile(join(directory, "tls.crt"), second.cert);
  await expect(readCertificateFiles(directory)).rejects.toThrow("do not belong together");
  await write(directory, second);
  await eventually(() => used.length === 2);
  expect(used).toEqual([first.cert, second.cert]);

  stop.abort();
  await following;
  await rm(directory, { recursive: true });
});

test("a server that follows a directory serves what is rotated in it without a restart", async () => {
  const directory = await mkdtemp(join(tmpdir(), "perennial-certificate-"));
  const [first, second] = await Promise.all([
    makeServingCertificate(["127.0.0.1"]),
    makeServingCertificate(["127.0.0.1"]),
  ]);
  await write(directory, first);
  const log = createLogger({ name: "test", level: "silent" });
  const server = createWebhookServer({ host: "127.0.0.1", port: 0, tls: first, log, webhooks: {} });
  const port = await server.start();
  const stop = new AbortController();
  let renewals = 0;
  const renew = (tls: ServingCertificate) => {
    server.renew(tls);
    renewals += 1;
  };
  const following = followCertificateFiles({ directory, renew, signal: stop.signal, log });
  await eventually(() => renewals === 1);
  expect(await servedTo(port, first.caBundle)).toBe(fingerprint(first));
  await expect(servedTo(port, second.caBundle)).rejects.toThrow("self-signed certificate");

  await write(directory, second);
  await eventually(async () => expect(await servedTo(port, second.caBundle)).toBe(fingerprint(second)));
  await expect(servedTo(port, first.caBundle)).rejects.toThrow("self-signed certificate");

  stop.abort();
  await following;
  await server.stop();
  await rm(directory, { recursive: true });
});

const fingerprint = ({ cert }: ServingCertificate): string => new X509Certificate(cert).fingerprint256;

/** Fingerprint of what a TLS client that trusts only `ca` is shown. */
function servedTo(port: number, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, ca }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.end();
    });
    socket.once("error", reject);
  });
}

async function write(directory: string, { cert, key }: ServingCertificate): Promise<void> {
  await writeFile(join(directory, "tls.key"), key);
  await writeFile(join(directory, "tls.crt"), cert);
}
