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

test("a token comes out as a header", async () => {
  const source = createCredentialSource({ kubeconfig: kubeconfig({ token: "t" }) });
  expect(await source.current()).toEqual({ tls: {}, authorization: "Bearer t" });
});

test("a kubeconfig file may hold a name with a password, and a server whose certificate is not checked", async () => {
  const file = join(directory, "basic");
  await writeFile(file, kubeconfig({ username: "u", password: "p" }, { "insecure-skip-tls-verify": true }));
  expect(await createCredentialSource({ file }).current()).toEqual({
    tls: { rejectUnauthorized: false },
    authorization: `Basic ${base64("u:p")}`,
  });
});

// It comes out of a cluster: whoever writes Secrets there must not run commands here, nor read files.
test.each<readonly [field: string, user: object, cluster: object]>([
  [
    "exec",
    { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/touch", args: ["/tmp/owned"] } },
    {},
  ],
  ["auth-provider", { "auth-provider": { name: "gcp", config: { "cmd-path": "/bin/touch" } } }, {}],
  ["tokenFile", { tokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" }, {}],
  ["client-certificate", { "client-certificate": "/etc/passwd" }, {}],
  ["client-key", { "client-key": "/etc/passwd" }, {}],
  ["as", { token: "t", as: "system:admin" }, {}],
  ["password", { password: "p" }, {}],
  ["certificate-authority", {}, { "certificate-authority": "/etc/passwd" }],
  ["insecure-skip-tls-verify", {}, { "insecure-skip-tls-verify": true }],
  ["proxy-url", {}, { "proxy-url": "http://proxy:3128" }],
  ["tls-server", {}, { "tls-server": "x" }],
])("a kubeconfig out of a cluster may not have %s", (field, user, cluster) => {
  const use = () => createCredentialSource({ kubeconfig: kubeconfig(user, cluster) });
  expect(use).toThrow(`cannot use the kubeconfig: ${field} is not allowed: it may hold certificates and tokens only`);
});

test("a kubeconfig out of a cluster names a server by https", () => {
  const text = kubeconfig({ token: "t" }, { server: "http://127.0.0.1:8080" });
  expect(() => createCredentialSource({ kubeconfig: text })).toThrow("its server is not https");
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
  const file = join(directory, "with-plugin");
  await writeFile(file, kubeconfig({ exec }));
  const source = createCredentialSource({ file });
  const all = await Promise.all([1, 2, 3].map(() => source.current()));
  expect(all.map(({ authorization }) => authorization)).toEqual(Array(3).fill("Bearer from plugin"));
  expect(await readFile(calls, "utf8")).toBe("called\n");
});

test("outside of a pod there is no in-cluster configuration", () => {
  expect(() => createCredentialSource({ inCluster: true })).toThrow(
    "cannot use the in-cluster configuration: this process does not run in a pod with a service account",
  );
});

test("a proxy in a kubeconfig file is refused rather than passed by", async () => {
  const file = join(directory, "with-proxy");
  await writeFile(file, kubeconfig({}, { "proxy-url": "http://proxy:3128" }));
  expect(() => createCredentialSource({ file })).toThrow(
    "cannot use the kubeconfig for https://127.0.0.1:6443: proxy-url is not supported",
  );
});
