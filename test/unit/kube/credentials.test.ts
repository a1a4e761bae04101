import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { createCredentialSource } from "../../../src/kube/credentials.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "credentials-"));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

function kubeconfig(user: object, cluster: object = {}): string {
  return stringify({
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443", ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

test("certificates and the name to expect come out as TLS takes them", async () => {
  const text = kubeconfig(
    { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") },
    { "certificate-authority-data": base64("CA"), "tls-server-name": "api.internal" },
  );
  const { server, current } = createCredentialSource({ kubeconfig: text });
  expect(server).toBe("https://127.0.0.1:6443");
  expect(await current()).toEqual({ tls: { ca: "CA", cert: "CERT", key: "KEY", servername: "api.internal" } });
});

test("a token, a name with a password and a server without a check of its certificate are understood", async () => {
  const withToken = createCredentialSource({
    kubeconfig: kubeconfig({ token: "t" }, { "insecure-skip-tls-verify": true }),
  });
  expect(await withToken.current()).toEqual({ tls: { rejectUnauthorized: false }, authorization: "Bearer t" });
  const withPassword = createCredentialSource({ kubeconfig: kubeconfig({ username: "u", password: "p" }) });
  expect(await withPassword.current()).toEqual({ tls: {}, authorization: `Basic ${base64("u:p")}` });
});

test("files are found next to the kubeconfig, and read again after the server refused them", async () => {
  await writeFile(join(directory, "token"), "one\n");
  await writeFile(join(directory, "ca.crt"), "CA");
  const file = join(directory, "kubeconfig");
  await writeFile(file, kubeconfig({ tokenFile: "token" }, { "certificate-authority": "ca.crt" }));
  const source = createCredentialSource({ file });
  expect(await source.current()).toEqual({ tls: { ca: "CA" }, authorization: "Bearer one" });
  await writeFile(join(directory, "token"), "two");
  expect(await source.current()).toMatchObject({ authorization: "Bearer one" });
  source.renew();
  expect(await source.current()).toMatchObject({ authorization: "Bearer two" });
  await writeFile(file, kubeconfig({ token: "three" }));
  source.renew();
  expect(await source.current()).toEqual({ tls: {}, authorization: "Bearer three" });
});

test("an exec plugin is asked once, however many wait for its answer", async () => {
  const plugin = join(directory, "plugin");
  const calls = join(directory, "calls");
  const answer = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token: "from plugin" },
  };
  await writeFile(plugin, `#!/bin/sh\necho called >> ${calls}\necho '${JSON.stringify(answer)}'\n`);
  await chmod(plugin, 0o755);
  const exec = { apiVersion: answer.apiVersion, command: plugin, interactiveMode: "Never" };
  const source = createCredentialSource({ kubeconfig: kubeconfig({ exec }) });
  const all = await Promise.all([1, 2, 3].map(() => source.current()));
  expect(all.map(({ authorization }) => authorization)).toEqual(Array(3).fill("Bearer from plugin"));
  expect(await readFile(calls, "utf8")).toBe("called\n");
});

test("outside of a pod there is no in-cluster configuration", () => {
  expect(() => createCredentialSource({ inCluster: true })).toThrow(
    "cannot use the in-cluster configuration: this process does not run in a pod with a service account",
  );
});

test("a proxy in the kubeconfig is refused rather than passed by", () => {
  const text = kubeconfig({}, { "proxy-url": "http://proxy:3128" });
  expect(() => createCredentialSource({ kubeconfig: text })).toThrow(
    "cannot use the kubeconfig for https://127.0.0.1:6443: proxy-url is not supported",
  );
});
