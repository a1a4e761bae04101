import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { noteOn, noteOnAddress, reachable, readPublishedKubeconfig } from "../../../src/cli/report/kubeconfig.ts";
import { renderKubeconfig, type KubeClient } from "../../../src/kube/index.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";

const published = renderKubeconfig({ server: "https://api.local.dev.perennial.test", ca: "CA", token: "t" });
const nobody = async () => [];

it("the kubeconfig of a Shoot keeps the name of the API server where this machine resolves it", async () => {
  const { kubeconfig } = await reachable(published, {
    here: async () => ["172.30.128.1"],
    elsewhere: [],
    advertised: [],
  });
  expect(kubeconfig).toBe(published);
});

it("the kubeconfig of a Shoot takes the address that another resolver knows, and keeps the name for the certificate", async () => {
  const { kubeconfig } = await reachable(published, {
    here: nobody,
    elsewhere: [async () => ["172.30.128.1"]],
    advertised: [],
  });
  expect(clusterOf(kubeconfig)).toMatchObject({
    server: "https://172.30.128.1:443",
    "tls-server-name": "api.local.dev.perennial.test",
  });
});

it("the kubeconfig of a Shoot takes an address that the Shoot advertises when no resolver knows the name", async () => {
  const advertised = ["https://api.local.dev.perennial.test", "https://172.30.128.2"];
  const { kubeconfig } = await reachable(published, { here: nobody, elsewhere: [nobody], advertised });
  expect(clusterOf(kubeconfig).server).toBe("https://172.30.128.2:443");
});

it("the kubeconfig of a Shoot stays as it is when no address is known", async () => {
  expect((await reachable(published, { here: nobody, elsewhere: [], advertised: [] })).kubeconfig).toBe(published);
});

it("the kubeconfig of a Shoot that hibernates, or whose token has expired, comes with the reason why it is of no use", () => {
  const now = new Date("2026-01-02T00:00:00Z");
  const [good, over] = [new Date("2026-01-02T10:00:00Z"), new Date("2026-01-01T10:00:00Z")];
  const note = (expires: Date, enabled = false) =>
    noteOn(exampleShoot({ hibernation: { enabled } }), { kubeconfig: published, expires }, now);
  expect(note(good)).toBeUndefined();
  expect(note(over)).toBe(
    "the token of Shoot garden-dev/example expired at 2026-01-01T10:00:00.000Z, and its seed has not renewed it: see 'perennial shoot describe garden-dev/example'",
  );
  expect(note(good, true)).toContain("hibernates: its API server does not run; its token may expire meanwhile");
  expect(note(over, true)).toContain("hibernates: its API server does not run; its token has expired");
});

it("the kubeconfig of a Shoot with an address in it comes with a note that a move ends it", async () => {
  const { address } = await reachable(published, {
    here: nobody,
    elsewhere: [async () => ["172.30.0.9"]],
    advertised: [],
  });
  expect(noteOnAddress(exampleShoot({}), address ?? "")).toBe(
    "this machine does not resolve the name of Shoot garden-dev/example: the kubeconfig names its API server by the address 172.30.0.9, and is of no use once another Seed leads",
  );
});

const readPublished = (kubeconfig: string) => {
  const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
  const read = (async () => ({ data, metadata: {} })) as unknown as KubeClient["read"];
  return readPublishedKubeconfig({ read } as KubeClient, exampleShoot({}));
};

it("the kubeconfig of a Shoot is written as its seed published it", async () => {
  expect((await readPublished(published)).kubeconfig).toBe(published);
});

it.each([
  ["exec", { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "/bin/sh", args: ["-c", "id"] } }],
  ["auth-provider", { "auth-provider": { name: "oidc" } }],
  ["tokenFile", { tokenFile: "/etc/shadow" }],
  ["as", { as: "system:admin" }],
])("a seed that publishes a kubeconfig with %s gets nothing of it into a file of the user", async (field, user) => {
  const config = parse(published) as { users: { user: object }[] };
  const hostile = stringify({ ...config, users: [{ name: "default", user }] });
  await expect(readPublished(hostile)).rejects.toThrow(
    `cannot use Secret garden-dev/example.kubeconfig, which a seed wrote: cannot use the kubeconfig: ${field} is not allowed`,
  );
});

it("nothing of a published kubeconfig is written but its current server and user", async () => {
  const config = parse(published) as { users: object[]; contexts: object[] };
  const more = { name: "other", user: { exec: { command: "/bin/sh" } } };
  const hostile = stringify({ ...config, users: [more, ...config.users], preferences: { x: 1 }, extensions: [] });
  expect((await readPublished(hostile)).kubeconfig).toBe(published);
});

it("a published kubeconfig without a CA is written as it is: its server has a certificate that this machine trusts", async () => {
  const config = parse(published) as { clusters: { cluster: object }[] };
  const server = "https://api.local.dev.perennial.test";
  const bare = stringify({ ...config, clusters: [{ name: "default", cluster: { server } }] });
  const { kubeconfig } = await readPublished(bare);
  expect(clusterOf(kubeconfig)).toEqual({ server });
});

it("the kubeconfig of a Shoot takes the address of its current context's server, and of no other's", async () => {
  const config = parse(published) as { clusters: object[] };
  const other = { name: "other", cluster: { server: "https://other.example.org" } };
  const asked: string[] = [];
  const known = async (host: string) => (asked.push(host), ["172.30.128.1"]);
  const { kubeconfig } = await reachable(stringify({ ...config, clusters: [other, ...config.clusters] }), {
    here: nobody,
    elsewhere: [known],
    advertised: [],
  });
  expect(asked).toEqual(["api.local.dev.perennial.test"]);
  expect(clusterOf(kubeconfig)).toMatchObject({ server: "https://172.30.128.1:443" });
  expect(kubeconfig).not.toContain("other");
});

function clusterOf(kubeconfig: string): { server: string } {
  const { clusters } = parse(kubeconfig) as { clusters: { cluster: { server: string } }[] };
  return clusters[0]?.cluster ?? { server: "" };
}
