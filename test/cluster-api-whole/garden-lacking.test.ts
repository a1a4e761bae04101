import { expect } from "vitest";
import { Cluster, ClusterEndpoint, ShootCluster, ShootControlPlane } from "../../src/api/cluster-api/index.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import { CustomResourceDefinition, refTo, typeMeta } from "../../src/kube/index.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf, poolOf } from "../support/cluster-api-objects.ts";
import { clusterApiRoles } from "../support/cluster-api-rights.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import {
  constantsOf,
  expectAtWork,
  makeServing,
  outageTest as test,
  saidOf,
  type OutageLab,
} from "../support/outages.ts";

const namespace = "garden-dev";

test("a leader that begins while the garden is away says so of what needs the garden, and all else goes on", async ({
  lab,
}) => {
  const { client } = lab.cluster;
  await makeServing(lab, "before");
  const before = await constantsOf(lab, "before");
  const began = Date.now();
  lab.proxies.garden.cut();
  try {
    await lab.own.restart();
    await makeWithInfrastructure(lab, "simple", {});
    await makeWithInfrastructure(lab, "reserving", { endpoint: { domain: "reserving.example.com" } });
    await client.create(endpointFor("simple"));
    const synced = await unknownSince(lab, ShootControlPlane, "before", "ShootSynced", "GardenUnreachable");
    expect(synced).toBeGreaterThanOrEqual(began - 1_000);
    await unknownSince(lab, ShootControlPlane, "simple", "ShootSynced", "GardenUnreachable");
    await unknownSince(lab, ShootCluster, "reserving", "Ready", "GardenUnreachable");
    await eventually(async () => {
      expect(await endpointOfCluster(lab, "simple")).toEqual({ host: "simple.example.com", port: 443 });
      expect(await saidOf(client, ShootCluster, key("simple"), "Ready")).toMatchObject({ status: "True" });
    }, 60_000);
    const said = await saidOf(client, ShootControlPlane, key("before"), "ShootSynced");
    await lab.own.restart();
    await client.patch(refTo(ShootCluster, key("simple")), { spec: { zones: ["a"] } }); // the next leader is at work
    await eventually(
      async () =>
        expect((await client.read(ShootCluster, key("simple")))?.status?.failureDomains).toMatchObject([{ name: "a" }]),
      60_000,
    );
    expect(await saidOf(client, ShootControlPlane, key("before"), "ShootSynced"), "since when stays").toEqual(said);
    expect(await saidOf(client, ShootControlPlane, key("before"), "Available")).toMatchObject({ status: "True" });
    expect(await constantsOf(lab, "before")).toEqual(before);
  } finally {
    lab.proxies.garden.mend();
  }
  await eventually(async () => {
    expect(await saidOf(client, ShootControlPlane, key("before"), "ShootSynced")).toMatchObject({ status: "True" });
    expect(await saidOf(client, ShootCluster, key("reserving"), "Ready")).toMatchObject({ status: "True" });
  }, 60_000);
  await eventually(async () => (await lab.garden.client.read(Shoot, key("simple"))) ?? false, 60_000);
  await expectAtWork(lab, "before", 3);
  expect(await constantsOf(lab, "before")).toEqual(before);
});

test("a garden without the definition of reservations says so of what reserves a domain, and of nothing else", async ({
  lab,
}) => {
  const { cluster, garden, own } = lab;
  await garden.client.remove(refTo(CustomResourceDefinition, { name: "domainreservations.perennial.dev" }));
  await own.restart();
  await makeWithInfrastructure(lab, "undefined", { endpoint: { domain: "undefined.example.com" } });
  const said = await unknownSince(lab, ShootCluster, "undefined", "Ready", "GardenUnreadable");
  expect(said).toBeLessThanOrEqual(Date.now());
  const { message = "" } = (await saidOf(cluster.client, ShootCluster, key("undefined"), "Ready")) ?? {};
  expect(message).toContain("no kind DomainReservation in perennial.dev/v1alpha1");
  await expectAtWork(lab, "before", 4);
  await applyCrds(garden.client);
  await eventually(
    async () =>
      expect(await saidOf(cluster.client, ShootCluster, key("undefined"), "Ready")).toMatchObject({ status: "True" }),
    60_000,
  );
});

test("a garden that refuses to list Secrets is said of what needs them, and loses no kubeconfig and no endpoint", async ({
  lab,
}) => {
  const { client } = lab.cluster;
  const before = await constantsOf(lab, "before");
  const restore = await withoutRights(lab, "secrets", ["list", "watch"]);
  await lab.own.restart();
  await makeWithInfrastructure(lab, "unaffected", { endpoint: { domain: "unaffected.example.com" } });
  await unknownSince(lab, ShootControlPlane, "before", "ShootSynced", "GardenUnreadable");
  const said = await saidOf(client, ShootControlPlane, key("before"), "ShootSynced");
  expect(said?.message).toContain('cannot list resource "secrets"');
  await eventually(
    async () =>
      expect(await saidOf(client, ShootCluster, key("unaffected"), "Ready")).toMatchObject({ status: "True" }),
    60_000,
  );
  expect(await saidOf(client, ShootControlPlane, key("before"), "Available")).toMatchObject({ status: "True" });
  expect(await constantsOf(lab, "before")).toEqual(before);
  await restore();
  await expectAtWork(lab, "before", 5);
  await eventually(async () =>
    expect(await saidOf(client, ShootControlPlane, key("before"), "ShootSynced")).toMatchObject({ status: "True" }),
  );
  expect(await constantsOf(lab, "before")).toEqual(before);
});

test("a garden that refuses what is asked of it without a watch is said, too, until the right is there", async ({
  lab,
}) => {
  const { client } = lab.cluster;
  const restore = await withoutRights(lab, "seeds", ["list"]);
  await makeWithInfrastructure(lab, "seedless", { seedSelector: { matchLabels: { region: "north" } } });
  await eventually(async () => {
    const said = await saidOf(client, ShootCluster, key("seedless"), "Ready");
    expect(said).toMatchObject({ status: "Unknown", reason: "RequestRefused" });
    expect(said?.message).toMatch(/^the garden refuses a request: .*cannot list resource "seeds"/);
  }, 60_000);
  await restore();
  await eventually(
    async () =>
      expect(await saidOf(client, ShootCluster, key("seedless"), "Ready")).toMatchObject({ reason: "NoSeed" }),
    90_000,
  );
});

const key = (name: string) => ({ namespace, name });

/** A Cluster with a pool and with an infrastructure that says this. */
async function makeWithInfrastructure(
  { cluster: { client } }: OutageLab,
  name: string,
  spec: NonNullable<ShootCluster["spec"]>,
): Promise<void> {
  const { machinePool, infrastructure } = poolOf(name, `${name}-p`);
  const infrastructureRef = infrastructureRefOf(name);
  await client.create({ ...typeMeta(ShootCluster), metadata: key(name), spec });
  const asks = spec.endpoint === undefined ? {} : ({ endpointFrom: "Infrastructure" } as const);
  await client.create(controlPlaneOf(name, asks));
  await client.create(clusterOf(name, { infrastructureRef }));
  await client.create(infrastructure);
  await client.create(machinePool);
}

const endpointFor = (cluster: string): ClusterEndpoint => ({
  ...typeMeta(ClusterEndpoint),
  metadata: { namespace, name: `${cluster}-third` },
  spec: { cluster, host: `${cluster}.example.com`, port: 443, type: "ExternalControlPlaneEndpoint" },
});

const endpointOfCluster = async ({ cluster: { client } }: OutageLab, name: string) =>
  (await client.read(Cluster, key(name)))?.spec.controlPlaneEndpoint;

/** Waits until the condition is Unknown for this reason; since when, as its message says, in ms since the epoch. */
async function unknownSince(
  { cluster: { client }, own }: OutageLab & { readonly own: { output(): string } },
  kind: typeof ShootControlPlane | typeof ShootCluster,
  name: string,
  type: string,
  reason: string,
): Promise<number> {
  const said = await eventually(async () => {
    const found = await saidOf(client, kind, key(name), type);
    expect(found, own.output().slice(-1_500)).toMatchObject({ status: "Unknown", reason });
    return found;
  }, 60_000);
  const [, since = ""] = / since (\S+?)(:|$)(?!\d)/.exec(said?.message ?? "") ?? [];
  return Date.parse(since);
}

/** Takes verbs on a resource of the garden from the process; what is returned gives them back. */
async function withoutRights(
  { garden }: OutageLab,
  resource: string,
  verbs: readonly string[],
): Promise<() => Promise<void>> {
  const lessened = (rule: Rule): readonly Rule[] => {
    if (!rule.resources.includes(resource)) return [rule];
    const left = rule.verbs.filter((verb) => !verbs.includes(verb));
    return left.length === 0 ? [] : [{ ...rule, verbs: left }];
  };
  const roles = (await clusterApiRoles(["garden"])).filter(({ kind }) => kind === "ClusterRole" || kind === "Role");
  const changed = roles.map((role) => ({ ...role, rules: rulesOf(role).flatMap((rule) => lessened(rule)) }));
  const apply = async (objects: readonly KubeObject[]) =>
    void (await Promise.all(objects.map((one) => garden.client.apply(one))));
  await apply(changed);
  return () => apply(roles);
}

const rulesOf = (role: KubeObject) => (role as unknown as { readonly rules: readonly Rule[] }).rules;

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}
