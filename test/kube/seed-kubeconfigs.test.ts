import { afterAll, describe, expect } from "vitest";
import { parse, stringify } from "yaml";
import { refTo, renderKubeconfig, Secret, type KubeClient } from "../../src/kube/index.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import {
  createSeedAccessLab,
  forbidden,
  namespace,
  secret,
  shootRef,
  soon,
  type SeedAccessLab,
} from "../support/seed-access-lab.ts";

let lab: SeedAccessLab;
let admin: KubeClient;
let seed: KubeClient;

test.beforeAll(async ({ cluster }) => {
  lab = await createSeedAccessLab(cluster);
  ({ admin, seed1: seed } = lab);
  await lab.place("mine", "seed-1");
  lab.start();
  await soon(() => seed.read(shootRef("mine")));
  await soon(() => seed.apply(secret("mine.kubeconfig")));
  await soon(() => forbidden(seed.apply(withData({ other: "" }))));
});
afterAll(() => lab.stop());

const pem = (bytes: number): string => `-----BEGIN CERTIFICATE-----\n${"A".repeat(bytes)}\n-----END CERTIFICATE-----\n`;

/** A kubeconfig as the seed's worker renders it. */
const published = ({ caBytes = 1_000, tokenBytes = 900 } = {}): string =>
  renderKubeconfig({
    server: "https://api.mine.dev.example.org",
    ca: pem(caBytes),
    token: `eyJhbGciOiJSUzI1NiJ9.${"a".repeat(tokenBytes)}.s-_`,
  });

const kubeconfigRef = refTo(Secret, { namespace, name: "mine.kubeconfig" });

const withData = (data: Readonly<Record<string, string>>): Secret => ({
  ...secret("mine.kubeconfig"),
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
});

const write = (kubeconfig: string) => seed.apply(withData({ kubeconfig }));

/** The published kubeconfig with this done to it, rendered as YAML by others. */
function changed(change: (config: { users: object[]; clusters: { cluster: object }[] }) => object): string {
  return stringify(change(parse(published()) as Parameters<typeof change>[0]), { lineWidth: 0, indentSeq: true });
}

const withUser = (user: object) => changed((config) => ({ ...config, users: [{ name: "default", user }] }));

describe("a seed writes into the kubeconfig of its Shoot", () => {
  test.each([0, 1, 2])("what its worker renders, whatever its length: %i more bytes", async (more) => {
    const text = published({ tokenBytes: 900 + more });
    await write(text);
    const { data } = (await admin.read(kubeconfigRef)) ?? {};
    expect(Buffer.from(data?.["kubeconfig"] ?? "", "base64").toString()).toBe(text);
    expect(changed((config) => config)).toBe(published()); // so what is refused below is refused for the change
  });

  test("a large CA, which the policy has to decode within its budget", () => write(published({ caBytes: 8_000 })));

  test.each<readonly [string, string]>([
    ["a command", withUser({ exec: { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/sh" } })],
    ["a command next to a token", published().replace("      token:", "      exec: {command: /bin/sh}\n      token:")],
    ["a command by an escape", published().replace("      token:", '      "ex\\u0065c": {command: id}\n      token:')],
    ["an auth provider", withUser({ "auth-provider": { name: "gcp", config: { "cmd-path": "/bin/sh" } } })],
    ["a file as a token", withUser({ tokenFile: "/etc/shadow" })],
    ["files as a certificate", withUser({ "client-certificate": "/etc/shadow", "client-key": "/etc/shadow" })],
    ["another user", published().replace("      token:", "      as: system:admin\n      token:")],
    [
      "another user's entry",
      changed(({ users, ...config }) => ({ ...config, users: [...users, { name: "x", user: {} }] })),
    ],
    ["a server that nothing proves", published().replace("https://", "http://")],
    ["a server through a proxy", published().replace("      server:", "      proxy-url: http://x\n      server:")],
    ["a file as its CA", published().replace(/certificate-authority-data: .*/, "certificate-authority: /etc/shadow")],
    ["a second document", `${published()}---\n${withUser({ exec: { command: "id" } })}`],
    ["a line before it", `users: []\n${published()}`],
    ["bytes that are not text", `${published()}\u0080`],
    ["a line break of another kind", published().replace("      token:", "      a: b\u0085      token:")],
    ["a NUL at its end", `${published()}\0`],
    ["what is no kubeconfig", "hello"],
    ["what takes too long to decode", published({ tokenBytes: 13_000 })],
  ])("not %s", async (_, kubeconfig) => {
    // The policy has judged it: an expression that failed would be refused with another reason.
    await expect(write(kubeconfig)).rejects.toThrow(/data\.kubeconfig: a seed may write/);
  });

  test("not another key than kubeconfig", () =>
    forbidden(seed.apply(withData({ kubeconfig: published(), config: "x" }))));

  test("nothing of it in another way: a merge patch, a text, or bytes", async () => {
    const exec = withUser({ exec: { command: "id" } });
    await forbidden(seed.patch(kubeconfigRef, { stringData: { kubeconfig: exec } }));
    await forbidden(seed.patch(kubeconfigRef, { data: { kubeconfig: Buffer.from(exec).toString("base64") } }));
  });
});

test("a refusal names the Secret and what a seed may write into it", async () => {
  await expect(write("hello")).rejects.toThrow(
    /data\.kubeconfig: a seed may write one server over HTTPS .* nothing else into Secret mine\.kubeconfig/,
  );
});
