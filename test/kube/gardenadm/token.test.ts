import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import {
  bootstrapTokenRef,
  createKubeClient,
  EndpointSlice,
  KubeError,
  parseKubeconfig,
  readBootstrapTokenSecret,
  refTo,
  renderKubeconfig,
  Secret,
} from "../../../src/kube/index.ts";
import { authorityHashes } from "../../../src/gardenadm/cluster/authorities.ts";
import { test } from "../../support/cluster-test.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { eventually } from "../../support/eventually.ts";
import { runGardenadm, type Surroundings } from "../../unit/gardenadm/lab.ts";

let cluster: ControlPlane;
let directory: string;

test.beforeAll(async ({ cluster: own }) => {
  cluster = own;
  directory = await mkdtemp(join(tmpdir(), "gardenadm-"));
});
test.afterAll(() => rm(directory, { recursive: true }));

const authenticated = "system:authenticated";
const bootstrappers = "system:bootstrappers";

test("a token is who it says, a bootstrapper of workers, for an hour", async () => {
  const { exit, out, err } = await gardenadm("create");
  const [token = "", id = ""] = /^([a-z0-9]{6})\.[a-z0-9]{16}(?=\n$)/.exec(out) ?? [];
  expect({ exit, err }).toEqual({ exit: 0, err: `bootstrap token ${id} lets worker nodes join for 60m\n` });
  expect(await eventually(() => whoIs(token))).toEqual({
    username: `system:bootstrap:${id}`,
    groups: [bootstrappers, "system:bootstrappers:gardenadm:worker", authenticated],
  });
  const { expiration = "", ...content } = await contentOf(id);
  expect(content).toEqual({
    "token-id": id,
    "token-secret": token.slice(7),
    description: "Lets worker nodes join.",
    "usage-bootstrap-authentication": "true",
    "usage-bootstrap-signing": "true",
    "auth-extra-groups": "system:bootstrappers:gardenadm:worker",
  });
  const minutes = (Date.parse(expiration) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(55);
  expect(minutes).toBeLessThanOrEqual(60);
});

test("a token for the control plane is a bootstrapper of that, and of nothing else", async () => {
  const words = ["create", "-", "--control-plane", "--validity", "10m", "--description", "for b and c"];
  const made = await gardenadmWith({ input: "ctlpln.0123456789abcdef\n" }, ...words);
  expect(made).toEqual({
    exit: 0,
    out: "ctlpln.0123456789abcdef\n",
    err: "bootstrap token ctlpln lets control-plane nodes join for 10m\n",
  });
  expect((await eventually(() => whoIs("ctlpln.0123456789abcdef"))).groups).toEqual([
    ...[bootstrappers, "system:bootstrappers:gardenadm:control-plane", authenticated],
  ]);
  expect((await contentOf("ctlpln"))["description"]).toBe("for b and c");
});

test("a token that has expired or was deleted is refused, also where it was used before", async () => {
  const tokens = ["expire", "delet1", "delet2", "delet3"].map((id) => `${id}.0123456789abcdef`);
  for (const token of tokens) await gardenadm("create", token);
  for (const token of tokens) await eventually(() => whoIs(token));
  const expiration = Buffer.from("2026-01-01T00:00:00Z").toString("base64");
  await cluster.client.patch(bootstrapTokenRef("expire"), { data: { expiration } });
  const names = ["delet1", "delet2.0123456789abcdef", "bootstrap-token-delet3"];
  expect(await gardenadm("delete", ...names, "delet1")).toEqual({
    exit: 0,
    out: ["delet1", "delet2", "delet3"].map((id) => `bootstrap token ${id} deleted\n`).join(""),
    err: "",
  });
  for (const token of tokens) await eventually(() => isRefused(token));
});

test("a token that is gone already may be deleted, and it is said", async () => {
  expect(await gardenadmWith({ input: "absen1 absen2\n" }, "delete", "-", "absen3")).toEqual({
    exit: 0,
    out: ["absen3", "absen1", "absen2"].map((id) => `bootstrap token ${id} is gone already\n`).join(""),
    err: "",
  });
});

test("a token is left in place where one of several names is misshapen", async () => {
  await gardenadm("create", "stayed.0123456789abcdef");
  expect(await gardenadm("delete", "stayed", "stayed.")).toMatchObject({ exit: 2, out: "" });
  expect(await contentOf("stayed")).toMatchObject({ "token-id": "stayed" });
});

test("a token whose id exists is refused with the remedy, and the one that was there stays as it was", async () => {
  await gardenadm("create", "exists.0123456789abcdef");
  expect(await gardenadm("create", "exists.fedcba9876543210")).toEqual({
    exit: 1,
    out: "",
    err: "error: bootstrap token exists exists already: delete it with 'gardenadm token delete exists', or take a token with another id\n",
  });
  expect(await contentOf("exists")).toMatchObject({ "token-secret": "0123456789abcdef" });
});

describe("the list", () => {
  test("shows what each token lets join, and no secret that is not asked for", async () => {
    await gardenadm("create", "listed.0123456789abcdef", "--description", "for\ta\nb");
    const { exit, out, err } = await gardenadm("list");
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const [titles = "", ...rows] = out.trimEnd().split("\n");
    expect(titles.split(/ {2,}/)).toEqual(["NAME", "TOKEN ID", "ROLE", "EXPIRATION", "LEFT", "AGE", "DESCRIPTION"]);
    const row = rows.find((one) => one.includes("listed")) ?? "";
    expect(row).toMatch(/^bootstrap-token-listed +listed +worker +\S+Z +(59|60)m +\d+s +for a b$/);
    expect(out).not.toContain("0123456789abcdef");
    expect((await gardenadm("list", "--with-token-secret")).out).toMatch(/ listed +0123456789abcdef +worker /);
  });

  test("says all of a token to a script, in JSON and in YAML", async () => {
    await gardenadm("create", "script.0123456789abcdef", "--control-plane");
    const { out } = await gardenadm("list", "--with-token-secret", "-o", "json");
    const { items } = JSON.parse(out) as { items: { tokenID: string }[] };
    expect(items.find(({ tokenID }) => tokenID === "script")).toEqual({
      ...{ name: "bootstrap-token-script", tokenID: "script", tokenSecret: "0123456789abcdef" },
      ...{ roles: ["control-plane"], groups: ["system:bootstrappers:gardenadm:control-plane"] },
      expiration: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      description: "Lets control-plane nodes join.",
      creationTimestamp: expect.stringMatching(/Z$/),
    });
    const yaml = (await gardenadm("list", "-o", "yaml")).out;
    expect(yaml).toContain("tokenID: script");
    expect(yaml).not.toContain("tokenSecret");
  });

  test("leaves out Secrets that are no tokens, and says of an old or an odd token what there is", async () => {
    const metadata = { namespace: "kube-system", name: "odd" };
    await cluster.client.create({ apiVersion: "v1", kind: "Secret", metadata, type: "bootstrap.kubernetes.io/token" });
    await cluster.client.create({ apiVersion: "v1", kind: "Secret", metadata: { ...metadata, name: "plain" } });
    const { out } = await gardenadm("list");
    expect(out).toMatch(/^odd +<none> +<none> +<none> +<none> +\d+s +<none>$/m);
    expect(out).toMatch(/^bootstrap-token-expire .* expired /m);
    expect(out).not.toContain("plain");
  });
});

describe("the join command", () => {
  const words = ["create", "--print-join-command"] as const;

  test("pins the cluster by its authority, at the address that is given", async () => {
    const { exit, out, err } = await gardenadm(...words, "joined.0123456789abcdef", "--server", "api.example.com:6443");
    expect({ exit, err }).toEqual({ exit: 0, err: "bootstrap token joined lets worker nodes join for 60m\n" });
    const data = parseKubeconfig(cluster.kubeconfig).cluster["certificate-authority-data"] as string;
    const [hash = ""] = authorityHashes(Buffer.from(data, "base64").toString(), "");
    expect(out).toBe(
      `echo joined.0123456789abcdef | gardenadm join https://api.example.com:6443 --bootstrap-token - --ca-cert-hash ${hash}\n`,
    );
  });

  test("is refused without an address that other machines reach, and no token is made", async () => {
    const { exit, out, err } = await gardenadm(...words, "nowher.0123456789abcdef");
    expect({ exit, out }).toEqual({ exit: 2, out: "" });
    expect(err).toBe(
      `error: kubeconfig ${cluster.kubeconfigFile} (from $KUBECONFIG) leads to ${cluster.client.server}, which other machines do not reach, and no API server advertises another address: say one with --server HOST:PORT\n`,
    );
    expect(await cluster.client.read(bootstrapTokenRef("nowher"))).toBeUndefined();
  });

  test("leads to an address that an API server advertises, where the kubeconfig leads to this very machine", async () => {
    await cluster.client.apply<EndpointSlice>({
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
      metadata: { namespace: "default", name: "kubernetes", labels: { "kubernetes.io/service-name": "kubernetes" } },
      endpoints: [{ addresses: ["10.1.2.3"] }, { addresses: ["10.1.2.4"] }],
      ports: [{ port: 6443 }],
    });
    const { out } = await gardenadm(...words, "--control-plane");
    expect(out).toMatch(
      /^echo \S+ \| gardenadm join https:\/\/10\.1\.2\.3:6443 --bootstrap-token - --ca-cert-hash sha256:[0-9a-f]{64} --control-plane\n$/,
    );
    await cluster.client.remove(refTo(EndpointSlice, { namespace: "default", name: "kubernetes" }));
  });

  test.each(["http://a:1", "https://a/b", "https://u@a", "a b", "https://"])(
    "leads to no address such as %j",
    async (address) => {
      const { exit, err } = await gardenadm(...words, "--server", address);
      expect({ exit, err }).toEqual({
        exit: 2,
        err: `error: --server cannot be "${address}": say HOST:PORT or https://HOST:PORT\n`,
      });
    },
  );

  test("is refused where the kubeconfig has no authority, and no token is made", async () => {
    const file = join(directory, "insecure.yaml");
    const { server } = cluster.client;
    await writeFile(file, insecureKubeconfig(server));
    const before = (await cluster.client.list(Secret, { namespace: "kube-system" })).length;
    const { exit, err } = await gardenadmWith({ variables: { KUBECONFIG: file } }, ...words);
    expect({ exit, err }).toMatchObject({ exit: 2, err: expect.stringContaining("has no certificate-authority-data") });
    expect((await cluster.client.list(Secret, { namespace: "kube-system" })).length).toBe(before);
  });
});

test("a user who may not make tokens is told so without the token", async () => {
  const file = join(directory, "alice.yaml");
  await writeFile(file, cluster.kubeconfigOf("alice"));
  const surroundings = { variables: { KUBECONFIG: file } };
  const { exit, out, err } = await gardenadmWith(surroundings, "create", "denied.0123456789abcdef");
  expect({ exit, out }).toEqual({ exit: 1, out: "" });
  expect(err).toContain("cannot create Secret kube-system/bootstrap-token-denied");
  expect(err).not.toContain("0123456789abcdef");
});

test("a cluster that does not answer has an exit code of its own", async () => {
  const file = join(directory, "dead.yaml");
  await writeFile(file, cluster.kubeconfig.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1"));
  const { exit, err } = await gardenadmWith({ variables: { KUBECONFIG: file } }, "create", "silent.0123456789abcdef");
  expect(exit).toBe(4);
  expect(err).not.toContain("0123456789abcdef");
});

async function gardenadm(...words: readonly string[]) {
  return await gardenadmWith({ variables: { KUBECONFIG: cluster.kubeconfigFile } }, ...words);
}

async function gardenadmWith(surroundings: Surroundings, ...words: readonly string[]) {
  return await runGardenadm(["token", ...words], {
    variables: { KUBECONFIG: cluster.kubeconfigFile },
    ...surroundings,
  });
}

async function contentOf(id: string) {
  const secret = await cluster.client.read(bootstrapTokenRef(id));
  if (secret === undefined) throw new Error(`there is no token ${id}`);
  return readBootstrapTokenSecret(secret);
}

/** Who the API server takes the bearer of a token for; throws what it answers otherwise. */
async function whoIs(token: string) {
  const { server, cluster: parts } = parseKubeconfig(cluster.kubeconfig);
  const ca = Buffer.from(String(parts["certificate-authority-data"]), "base64").toString();
  const bearer = createKubeClient({ kubeconfig: renderKubeconfig({ server, ca, token }) });
  try {
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} };
    const answer = (await bearer.create(review as never)) as unknown as Review;
    const { username, groups } = answer.status.userInfo;
    return { username, groups };
  } finally {
    await bearer.close();
  }
}

interface Review {
  readonly status: { readonly userInfo: { readonly username: string; readonly groups: readonly string[] } };
}

/** Whether the API server knows no bearer of this token; throws what else it answers. */
async function isRefused(token: string): Promise<boolean> {
  const answer = await whoIs(token).catch((error: unknown) => error);
  return answer instanceof KubeError && answer.status === 401;
}

function insecureKubeconfig(server: string): string {
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "a" },
    clusters: [{ name: "a", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "a", user: { token: "perennial-test-administrator" } }],
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
  });
}
