import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach, expect } from "vitest";
import { createPublishing } from "../../src/activities/control-plane/publishing.ts";
import { keepKubeconfig } from "../../src/activities/control-plane/user-kubeconfig.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { Cluster, Shoot, type KubeObject } from "../../src/api/index.ts";
import {
  EPOCH_ANNOTATION,
  KUBECONFIG_EXPIRY_ANNOTATION,
  KUBECONFIG_REVOCATION_ANNOTATION,
  OPERATION_ANNOTATION,
} from "../../src/api/annotations.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { components, type ControlPlaneContext } from "../../src/components/index.ts";
import {
  createKubeClient,
  Namespace,
  parseKubeconfig,
  refTo,
  Secret,
  typeMeta,
  type KubeClient,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { revokeKubeconfigs } from "../../src/cli/report/revocation.ts";
import { createKubeconfigs } from "../../src/worker/kubeconfigs.ts";
import { test } from "../support/cluster-test.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { startShootControlPlane, type ShootControlPlane } from "../support/shoot-control-plane.ts";
import { shootRun } from "../support/shoot-run.ts";

const technicalID = "shoot--dev--users";
const hours = (count: number) => () => new Date(Date.now() + count * 3_600_000);
const ref = refTo(Shoot, { namespace: "garden-dev", name: "users" });
const published = refTo(Secret, { namespace: "garden-dev", name: "users.kubeconfig" });
let garden: KubeClient;
let context: ControlPlaneContext;
let controlPlane: ShootControlPlane;
let client: KubeClient;
let run: ShootRun;

test.beforeAll(async ({ cluster }) => {
  garden = cluster.client;
  context = await prepareObjects(cluster);
  controlPlane = await startShootControlPlane(garden, context);
  client = await controlPlane.client("gardener-internal");
  for (const object of components["gardener-access"].objects(context)) await client.apply(object);
});

beforeEach(async () => {
  await garden.remove(published);
  await annotate({ [KUBECONFIG_REVOCATION_ANNOTATION]: null });
});

afterAll(async () => {
  await client.close();
  await controlPlane.stop();
});

test("users get a token of the Shoot's own account for a day, and no certificate", async () => {
  await publish();
  const { metadata } = (await garden.read(published)) ?? {};
  const { user, server } = parseKubeconfig(await kubeconfig());
  expect(server).toBe("https://api.example.dev.perennial.test");
  expect(Object.keys(user)).toEqual(["token"]);
  const expiry = Date.parse(metadata?.annotations?.[KUBECONFIG_EXPIRY_ANNOTATION] ?? "");
  expect((expiry - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
  const review = await asUser(await kubeconfig(), (one) =>
    one.create<KubeObject>({ ...selfReview, metadata: { name: "" } }),
  );
  expect(review).toMatchObject({
    status: { userInfo: { username: "system:serviceaccount:kube-system:perennial-user" } },
  });
  await asUser(await kubeconfig(), (one) => one.list(Secret));
});

test("the published kubeconfig belongs to its Shoot, and goes with it", async () => {
  await publish();
  const { uid } = (await garden.read(ref))?.metadata ?? {};
  expect((await garden.read(published))?.metadata.ownerReferences).toEqual([
    { apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", name: "users", uid },
  ]);
});

test("the certificate for a year that users had before is replaced, and gone from the seed", async () => {
  const before = { kubeconfig: Buffer.from(await controlPlane.kubeconfig("gardener")).toString("base64") };
  await garden.create<Secret>({
    ...typeMeta(Secret),
    metadata: { namespace: "garden-dev", name: published.name },
    data: before,
  });
  await garden.apply<Secret>({
    ...typeMeta(Secret),
    metadata: { namespace: technicalID, name: "user-kubeconfig" },
    data: before,
  });
  await publish();
  expect(Object.keys(parseKubeconfig(await kubeconfig()).user)).toEqual(["token"]);
  expect(await garden.read(Secret, { namespace: technicalID, name: "user-kubeconfig" })).toBeUndefined();
});

test("the seed's worker renews a token when half its time is over, and the one before is good still", async () => {
  await publish();
  const first = await kubeconfig();
  await worker({ now: hours(11) }).round();
  expect(await kubeconfig()).toBe(first);
  await eventually(async () => {
    await worker({ now: hours(13) }).round(); // tokens of one second are the same
    expect(await kubeconfig()).not.toBe(first);
  });
  for (const text of [first, await kubeconfig()]) await asUser(text, (one) => one.list(Secret));
});

test("of two workers that renew at once, both end with the same kubeconfig published, and it is good", async () => {
  await publish();
  const loops = [1, 2, 3].map(() => worker({ now: hours(13) }));
  await Promise.all(loops.map(({ round }) => round()));
  await asUser(await kubeconfig(), (one) => one.list(Secret));
});

test("a revocation ends all kubeconfigs given out so far, once", async () => {
  await publish();
  const first = await kubeconfig();
  await asUser(first, (one) => one.list(Secret));
  await annotate({ [KUBECONFIG_REVOCATION_ANNOTATION]: "2026-01-01T00:00:00Z" });
  await publish();
  const second = await kubeconfig();
  await eventually(
    () => expect(asUser(first, (one) => one.list(Secret))).rejects.toMatchObject({ status: 401 }),
    30_000,
  );
  await asUser(second, (one) => one.list(Secret));
  await publish();
  expect(await kubeconfig()).toBe(second);
  await asUser(second, (one) => one.list(Secret));
});

test("the command line asks for a revocation and waits until it is met", async () => {
  await publish();
  const first = await kubeconfig();
  const waiting = revokeKubeconfigs(garden, (await garden.read(ref)) as Shoot, {
    signal: new AbortController().signal,
    period: 50,
  });
  const asked = await eventually(async () => {
    const { annotations = {} } = (await garden.read(ref))?.metadata ?? {};
    expect(annotations).toMatchObject({
      [KUBECONFIG_REVOCATION_ANNOTATION]: expect.any(String),
      [OPERATION_ANNOTATION]: "reconcile",
    });
    return annotations[KUBECONFIG_REVOCATION_ANNOTATION];
  });
  const ended = await Promise.race([waiting.then(() => "met"), sleep(300, "waits")]);
  expect(ended).toBe("waits");
  await publish(); // what the flow does
  await waiting;
  expect(await kubeconfig()).not.toBe(first);
  expect((await garden.read(published))?.metadata.annotations).toMatchObject({
    [KUBECONFIG_REVOCATION_ANNOTATION]: asked,
  });
});

test("a revocation asked for while the Shoot hibernates is said to wait, and is met after it", async () => {
  await garden.patch(ref, { spec: { hibernation: { enabled: true } } });
  const shoot = (await garden.read(ref)) as Shoot;
  const { signal } = new AbortController();
  await expect(revokeKubeconfigs(garden, shoot, { signal })).rejects.toThrow("are not revoked yet: it hibernates");
  await garden.patch(ref, { spec: { hibernation: { enabled: false } } });
  const { annotations = {} } = (await garden.read(ref))?.metadata ?? {};
  await publish();
  expect((await garden.read(published))?.metadata.annotations).toMatchObject({
    [KUBECONFIG_REVOCATION_ANNOTATION]: annotations[KUBECONFIG_REVOCATION_ANNOTATION],
  });
});

test("two that revoke at once leave a kubeconfig that is good", async () => {
  await publish();
  await annotate({ [KUBECONFIG_REVOCATION_ANNOTATION]: "2026-01-02T00:00:00Z" });
  const outcomes = await Promise.allSettled([publish(), publish(), publish()]);
  if (outcomes.some(({ status }) => status === "rejected")) await publish(); // as the flow tries again
  await asUser(await kubeconfig(), (one) => one.list(Secret));
});

test("while a Shoot hibernates its kubeconfig stays as it is, and neither flow nor worker asks its API server", async () => {
  await publish();
  const before = await garden.read(published);
  await garden.patch(ref, { spec: { hibernation: { enabled: true } } });
  const unreachable = { get: () => Promise.reject(new Error("does not run")) };
  await publish({ ...run, hibernated: true }, unreachable);
  await worker({ now: hours(13), ...unreachable }).round();
  expect(await garden.read(published)).toEqual(before);
  await garden.patch(ref, { spec: { hibernation: { enabled: false } } });
});

test("a seed renews nothing of a Shoot that another seed leads, and the token is good while the Shoot moves", async () => {
  await publish();
  const before = await garden.read(published);
  const leadership = (seed: string, epoch: number) =>
    garden.patch(
      ref,
      { status: { leadership: { seed, epoch, record: "users.test", leaseSeconds: 60 } } },
      { subresource: "status" },
    );
  await leadership("seed-2", 2);
  await worker({ now: hours(13) }).round();
  expect(await garden.read(published)).toEqual(before);
  await asUser(await kubeconfig(), (one) => one.list(Secret));
  await leadership("seed-1", 3);
  await worker({ now: hours(13) }).round();
  expect(await garden.read(published)).toEqual(before); // its flow has not come yet
  await garden.patch(refTo(Namespace, { name: technicalID }), {
    metadata: { annotations: { [EPOCH_ANNOTATION]: "3" } },
  });
  await worker({ now: hours(13) }).round();
  expect(await garden.read(published)).not.toEqual(before);
});

test("a kubeconfig that leads to another server or authority is put right at once", async () => {
  await publish();
  const shoot = (await garden.read(ref)) as Shoot;
  const access = { server: "https://api.elsewhere.test", ca: "another", client };
  await keepKubeconfig(garden, shoot, access);
  expect(parseKubeconfig(await kubeconfig()).server).toBe("https://api.elsewhere.test");
  await publish();
  expect(parseKubeconfig(await kubeconfig()).server).toBe("https://api.example.dev.perennial.test");
});

const selfReview = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };

async function prepareObjects({ client: cluster }: ControlPlane): Promise<ControlPlaneContext> {
  for (const name of ["garden-dev", technicalID])
    await cluster.apply({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, ...(name === technicalID && { labels: { "gardener.cloud/role": "shoot" } }) },
    });
  const example = exampleContext({ namespace: technicalID });
  const shoot: Shoot = await cluster.create<Shoot>({
    ...example.shoot,
    metadata: { name: "users", namespace: "garden-dev" },
  });
  const seed = await cluster.create(example.seed);
  const cloudProfile = await cluster.create(example.cloudProfile);
  const server = `https://api.${example.externalDomain}`;
  const status = { seedName: "seed-1", technicalID, advertisedAddresses: [{ name: "external", url: server }] };
  await cluster.patch(ref, { status }, { subresource: "status" });
  await cluster.create({ ...typeMeta(Cluster), metadata: { name: technicalID }, spec: { shoot, seed, cloudProfile } });
  run = shootRun({ name: "users", uid: shoot.metadata.uid ?? "", technicalID });
  await ensureSecrets(cluster, example);
  return example;
}

const annotate = (annotations: Record<string, string | null>) => garden.patch(ref, { metadata: { annotations } });

interface Access {
  get(): Promise<KubeClient>;
}

const clientsOf = ({ get }: Access) => ({ get, forget: async () => undefined, close: async () => undefined });
const reachable: Access = { get: () => Promise.resolve(client) };

const publish = (of: ShootRun = run, access = reachable) =>
  createPublishing({ gardenClient: garden, seedClient: garden, shootClients: clientsOf(access) }).publishKubeconfig(of);

const worker = ({ now, ...access }: { now: () => Date } & Partial<Access>) =>
  createKubeconfigs({
    gardenClient: garden,
    seedClient: garden,
    seedName: "seed-1",
    shootClients: clientsOf({ ...reachable, ...access }),
    log: createLogger({ name: "test", level: "silent" }),
    now,
  });

async function kubeconfig(): Promise<string> {
  const secret = await garden.read(published);
  return Buffer.from(secret?.data?.["kubeconfig"] ?? "", "base64").toString();
}

/** Kubeconfigs lead to a public name, which is not known here. */
async function asUser<T>(text: string, work: (one: KubeClient) => Promise<T>): Promise<T> {
  const { server } = parseKubeconfig(await controlPlane.kubeconfig("gardener-internal"));
  const one = createKubeClient({ kubeconfig: text.replace(/server: .*/, `server: ${server}`) });
  try {
    return await work(one);
  } finally {
    await one.close();
  }
}
