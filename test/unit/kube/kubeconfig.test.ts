import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseKubeconfig, readKubeconfig, renderKubeconfig } from "../../../src/kube/kubeconfig.ts";

const parts = { server: "https://api.example.org", ca: "CA", clientCert: "CERT", clientKey: "KEY" };

test("a rendered kubeconfig is what it always was, byte for byte", () => {
  expect(renderKubeconfig({ ...parts, tlsServerName: "api.internal", namespace: "shoot--dev--a" })).toBe(
    `apiVersion: v1
kind: Config
clusters:
  - name: default
    cluster:
      server: https://api.example.org
      certificate-authority-data: Q0E=
      tls-server-name: api.internal
users:
  - name: default
    user:
      client-certificate-data: Q0VSVA==
      client-key-data: S0VZ
contexts:
  - name: default
    context:
      cluster: default
      user: default
      namespace: shoot--dev--a
current-context: default
`,
  );
});

test("a rendered kubeconfig says nothing about what it was not given", () => {
  const text = renderKubeconfig({ server: parts.server, ca: parts.ca, token: "on" });
  expect(text).not.toMatch(/client-|namespace|tls-server-name/);
  // A plain `on` would be a boolean to the YAML parsers of Go.
  expect(text).toContain('token: "on"');
});

test("a rendered kubeconfig is read back", () => {
  const config = parseKubeconfig(renderKubeconfig({ ...parts, namespace: "n" }));
  expect(config).toMatchObject({
    server: parts.server,
    namespace: "n",
    cluster: { "certificate-authority-data": "Q0E=" },
    user: { "client-key-data": "S0VZ" },
  });
});

test("the current context decides, and a slash at the end of the server does not matter", () => {
  const config = parseKubeconfig(`
current-context: b
contexts: [{name: a, context: {cluster: a, user: a}}, {name: b, context: {cluster: b, user: b}}]
clusters: [{name: a, cluster: {server: https://a}}, {name: b, cluster: {server: https://b/}}]
users: [{name: a, user: {token: a}}, {name: b, user: {}}]`);
  expect(config).toMatchObject({ server: "https://b", user: {} });
});

test.each([
  ["", "kubeconfig is empty"],
  ["kind: Config", "kubeconfig has no current-context, and no contexts"],
  ["contexts: [{name: a}, {name: b}]", "kubeconfig has no current-context: set it to one of a, b"],
  ["current-context: a", 'kubeconfig has no context "a": it has none'],
  ["current-context: a\ncontexts: [{name: b}, {name: c}]", 'kubeconfig has no context "a": it has b, c'],
  ["current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]", 'kubeconfig has no cluster "c"'],
  [
    "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {}}]",
    'kubeconfig has no user "u"',
  ],
])("an unusable kubeconfig is refused with what it lacks (%#)", (text, message) => {
  expect(() => parseKubeconfig(text)).toThrow(message);
});

test("a kubeconfig file that cannot be used is named", async () => {
  const directory = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  const file = join(directory, "broken.yaml");
  expect(() => readKubeconfig(file)).toThrow(`cannot read kubeconfig ${file}: ENOENT`);
  await writeFile(file, "current-context: a");
  expect(() => readKubeconfig(file)).toThrow(`cannot read kubeconfig ${file}: kubeconfig has no context "a"`);
  await rm(directory, { recursive: true });
});
