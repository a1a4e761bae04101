import { X509Certificate } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPki } from "../../../src/local/cluster/pki.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-pki-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

it("a server's certificate is signed by its authority for its hosts, its key is private", async () => {
  const pki = createPki(folder);
  const authority = await pki.authority("ca");
  const server = await pki.issue(authority, {
    name: "server",
    commonName: "server",
    hosts: ["172.30.0.1", "localhost"],
  });
  const certificate = new X509Certificate(server.certificate);
  expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  expect(certificate.subjectAltName).toBe("IP Address:172.30.0.1, DNS:localhost");
  expect((await stat(server.keyFile)).mode & 0o777).toBe(0o600);
});

it("a client's certificate names user and group as Kubernetes reads them", async () => {
  const pki = createPki(folder);
  const request = { name: "kubelet", commonName: "system:node:seed-1", organization: "system:nodes" };
  const { certificate } = await pki.issue(await pki.authority("ca"), request);
  expect(new X509Certificate(certificate).subject.split("\n").sort()).toEqual([
    "CN=system:node:seed-1",
    "O=system:nodes",
  ]);
});

it("the same request gives the same certificate again, another one a new one", async () => {
  const pki = createPki(folder);
  const authority = await pki.authority("ca");
  const first = await pki.issue(authority, { name: "api", commonName: "api", hosts: ["10.0.0.1"] });
  expect(await createPki(folder).issue(authority, { name: "api", commonName: "api", hosts: ["10.0.0.1"] })).toEqual(
    first,
  );
  const second = await pki.issue(authority, { name: "api", commonName: "api", hosts: ["10.0.0.2"] });
  expect(second.certificate).not.toBe(first.certificate);
});
