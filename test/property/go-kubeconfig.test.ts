import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseForeignKubeconfig, renderKubeconfig } from "../../src/kube/kubeconfig.ts";
import { startGoReaders, type GoReaders } from "../support/go-readers.ts";
import { seconds } from "../support/patience.ts";

let go: GoReaders;

beforeAll(async () => void (go = await startGoReaders()), seconds(120));

afterAll(async () => await go?.close());

/** A kubeconfig with two contexts, of which the second runs a command. */
const withTwoContexts = (current: string, good: string, evil: string): string => `
apiVersion: v1
kind: Config
current-context: ${current}
contexts:
- {name: ${good}, context: {cluster: c, user: good}}
- {name: ${evil}, context: {cluster: c, user: evil}}
clusters: [{name: c, cluster: {server: "https://api.example.org"}}]
users:
- {name: good, user: {token: t}}
- {name: evil, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}}}
`;

const withCluster = (cluster: string): string => `
apiVersion: v1
kind: Config
x: &other {server: "http://attacker.example.org"}
current-context: a
contexts: [{name: a, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: ${cluster}}]
users: [{name: u, user: {token: t}}]
`;

test.each([
  ["minutes that name a context", withTwoContexts("1:30", "01:30", "1:30")],
  ["an octal number that names a context", withTwoContexts("0o17", "0o17", "15")],
  ["a merge key behind another key", withCluster('{server: "https://api.example.org", <<: *other}')],
  ["two contexts of one name", withTwoContexts("a", "a", "a")],
  ["two keys of one name", withCluster('{server: "https://api.example.org", server: "http://attacker.example.org"}')],
  [
    "another YAML behind it",
    `${withCluster('{server: "https://api.example.org"}')}\n---\n${withTwoContexts("b", "a", "b")}`,
  ],
  ["a server with a user", withCluster('{server: "https://api.example.org@attacker.example.org"}')],
  ["a server with a backslash", withCluster('{server: "https://api.example.org\\\\@attacker.example.org"}')],
  ["a server with an octal address", withCluster('{server: "https://0177.0.0.1"}')],
])("%s leads a client in Go nowhere else than ours", async (_, text) => {
  const passedOn = textOf(text);
  if (passedOn !== undefined) await expectAgreement(passedOn);
});

test("what is passed on of another's kubeconfig holds its current context alone, and all clients read it alike", async () => {
  const text = withTwoContexts("one", "one", "other");
  expect(textOf(text)).not.toMatch(/exec|other/);
  await expectAgreement(textOf(text) ?? "");
});

test("a kubeconfig that passes is read by clients in Go as by ours, whatever is in it", async () => {
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom("yes", "0o17", "1:30", "~", "1e3", "0777", "null", "2026-01-01", "<<", "a: b", "- a", "#a"),
  );
  await fc.assert(
    fc.asyncProperty(fc.record({ ca: value, token: value, tlsServerName: value }), async (parts) => {
      const text = renderKubeconfig({ server: "https://api.example.org", ...parts });
      expect(textOf(text)).toBe(text);
      await expectAgreement(text);
      expect(await go.read("kubeconfig", text)).toMatchObject(parts);
    }),
  );
});

const textOf = (text: string): string | undefined => {
  try {
    return parseForeignKubeconfig(text).text;
  } catch {
    return undefined;
  }
};

async function expectAgreement(text: string): Promise<void> {
  const { server, user } = parseForeignKubeconfig(text);
  const read = await go.read("kubeconfig", text);
  expect(read).toMatchObject({ server, token: user["token"] ?? "", executes: false, files: "", insecure: false });
}
