import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
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

async function write(directory: string, { cert, key }: ServingCertificate): Promise<void> {
  await writeFile(join(directory, "tls.key"), key);
  await writeFile(join(directory, "tls.crt"), cert);
}
