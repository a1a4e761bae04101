import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  Cluster,
  ClusterEndpoint,
  MachinePool,
  ShootControlPlane,
  ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { MOVING_GRACE } from "../../src/cluster-api/endpoint/moving.ts";
import { refTo, Secret, type Kind, type Node } from "../../src/kube/index.ts";
import { helloImage } from "../../src/local/image/images.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { clusterApiEnvironment } from "../support/cluster-api-setup.ts";
import { recordConditions, renderChanges, type ConditionRecord } from "../support/condition-record.ts";
import { startDowntimeProbe } from "../support/downtime-probe.ts";
import { findTestShoot, seedsOf, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment, type SeedName } from "../support/local-environment.ts";
import { askManager, countManagerProbes, renderProbes } from "../support/manager-probes.ts";
import {
  clusterNamespace as namespace,
  openManagementCluster,
  renderExample,
  type ManagementCluster,
} from "../support/management-cluster.ts";
import { findSeedRemains, findShootRemains } from "../support/shoot-remains.ts";

/**
 * The example of scenario 1 on real machines, beside Cluster API's core manager: made, moved to another Seed, scaled, repaired, deleted.
 * What users see of it is asked of clusterctl and kubectl.
 */
let local: LocalEnvironment;
let management: ManagementCluster;
let shoot: TestShoot;
const told: string[] = [];

beforeAll(async () => {
  local = await localEnvironment(clusterApiEnvironment, { clusterApi: true });
  management = await openManagementCluster(local);
});

afterAll(async () => {
  console.log(told.join("\n"));
  await management?.close();
  await local?.close();
});

describe("the example of a Cluster without infrastructure", () => {
  test("becomes available, as clusterctl says", async () => {
    const begin = performance.now();
    await management.kubectl(["apply", "-f", "-"], await renderExample(local, "managed"));
    await eventually(async () => expect(await conditionOf(Cluster, "managed", "Available")).toBe("True"), 300_000);
    told.push(`available after ${seconds(begin)} s`);
    shoot = await findTestShoot(local, "managed");
    const described = await eventually(async () => {
      const text = await management.clusterctl("describe", "cluster", "managed");
      // A Cluster may be available before core has counted the Nodes of its pool.
      expect(text).toMatch(/^Cluster garden-dev\/managed +1\/1 +1 +1 +1 +True +Available /m);
      return text;
    }, 120_000);
    expect(described).toMatch(/ShootControlPlane garden-dev\/managed, v1\.34\.4 +True +Available /);
    told.push(described.replaceAll(/ +$/gm, ""));
    await shoot.settles("Succeeded", "Create");
  });

  test("is opened by the kubeconfig that clusterctl gives, and its pool has the real kubelet's Node", async () => {
    const pool = await eventually(async () => {
      const found = await read(MachinePool, "managed-worker");
      expect(found?.status).toMatchObject({ phase: "Running", replicas: 1, readyReplicas: 1 });
      return found;
    }, 120_000);
    const [node, ...others] = await nodes();
    expect(others).toEqual([]);
    expect(pool?.status?.nodeRefs?.map(({ name, uid }) => ({ name, uid }))).toEqual([identityOf(node)]);
    expect(pool?.spec.providerIDList).toEqual([node?.spec?.["providerID"]]);
    expect(node?.status).toMatchObject({ nodeInfo: { kubeletVersion: `v${versions.kubernetes}` } });
    expect((await local.machines.list()).map(({ name }) => name)).toContain(node?.metadata.name);
  });

  test("runs a user's pod on that machine, whose log its API server reads", async () => {
    const pod = {
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "hello" } },
      spec: { containers: [{ name: "hello", image: helloImage }] },
    };
    await eventually(() => inCluster(["apply", "-f", "-"], JSON.stringify(pod)), 60_000); // its service account comes soon
    await inCluster(["wait", "--for", "condition=Ready", "pod/hello", "--timeout", "50s"]);
    const [node] = await nodes();
    expect(await inCluster(["get", "pod", "hello", "--output", "jsonpath={.spec.nodeName}"])).toBe(node?.metadata.name);
    await eventually(async () => expect(await inCluster(["logs", "hello"])).toContain("listening on :8080"), 30_000);
  });
});

describe("a Cluster whose control plane moves to another Seed", () => {
  let record: ConditionRecord;
  let seeds: { readonly from: SeedName; readonly to: SeedName };

  test("stays available all the time: neither it nor what it is made of says otherwise once", async () => {
    const before = await identities();
    seeds = await seedsOf(shoot);
    record = recordConditions(local.gardenClient, namespace, [
      Cluster,
      ClusterEndpoint,
      ShootControlPlane,
      ShootMachinePool,
    ]);
    await record.started;
    const probes = await countManagerProbes(local.environment, "managed");
    const kubeconfig = await management.clusterctl("get", "kubeconfig", "managed");
    const users = startDowntimeProbe(kubeconfig, "/readyz", { dnsServer: local.environment.gateway });
    const begin = performance.now();
    await local.perennial("shoot", "migrate", "garden-dev/managed", "--to", seeds.to, "-y");
    await shoot.settles("Succeeded", "Restore", 300_000);
    const took = seconds(begin);
    // The next word of core, and of the prober, is heard, too.
    await eventually(
      async () => expect(await reasonOf(ClusterEndpoint, "managed-control-plane", "Serving")).toBe("Answers"),
      90_000,
    );
    const [seen, counted] = [await users.stop(), await probes.stop()];
    await record.stop();
    told.push(
      `moved in ${took} s; API server away for ${seen.longestGap} ms (${seen.failed} of ${seen.probes} questions)`,
      renderProbes(counted),
      renderChanges(record.changes),
    );
    expect(record.changes.filter(({ type, status }) => mustHold.has(type) && status !== "True")).toEqual([]);
    expect(record.changes).toContainEqual(
      expect.objectContaining({ type: "Available", status: "True", reason: "Moving" }),
    );
    expect(seen.longestGap).toBeGreaterThan(200);
    expect(seen.longestGap).toBeLessThan(MOVING_GRACE);
    expect(counted.succeeded).toBeGreaterThan(0);
    expect(await identities()).toEqual(before);
    expect((await shoot.read())?.spec.seedName).toBe(seeds.to);
  });

  test("leaves nothing of its control plane on the Seed that it came from", async () => {
    await eventually(async () => expect((await shoot.read())?.status?.seeds).toEqual([seeds.to]), 120_000);
    expect(await findSeedRemains(local, shoot, seeds.from)).toEqual([]);
  });
});

test("the manager's metrics are all that it serves without authentication", async () => {
  const answers = ["/metrics", "/debug/pprof/", "/debug/flags/v"].map((path) => askManager(local.environment, path));
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 404, 404]);
});

describe("a pool of machines", () => {
  test("grows by its replicas, and names the Node of the machine that joins", async () => {
    await management.kubectl(["scale", "machinepool/managed-worker", "--replicas=2"]);
    await poolFollows(2);
    const described = await management.clusterctl("describe", "cluster", "managed");
    expect(described).toMatch(/^Cluster garden-dev\/managed +2\/2 /m);
  });

  test("names the Node of the machine that takes a dead one's place", async () => {
    const [first, second] = await nodes();
    await local.machines.remove(second?.metadata.name ?? "");
    await inCluster(["delete", "node", second?.metadata.name ?? ""]);
    await poolFollows(1);
    await local.perennial("shoot", "reconcile", "garden-dev/managed");
    await poolFollows(2);
    const now = (await nodes()).map(identityOf);
    expect(now).toContainEqual(identityOf(first));
    expect(now).not.toContainEqual(identityOf(second));
  });

  test("shrinks by its replicas, and the machine goes with its Node", async () => {
    await management.kubectl(["scale", "machinepool/managed-worker", "--replicas=1"]);
    await poolFollows(1);
    await shoot.settles("Succeeded", "Reconcile", 240_000);
    const machines = (await local.machines.list()).filter(({ name }) => name.startsWith(shoot.technicalID));
    expect(machines.map(({ name }) => name)).toEqual((await nodes()).map(({ metadata }) => metadata.name));
  });

  test("leaves the number of its machines to an autoscaler between bounds, where it is annotated so", async () => {
    const bounds = { spec: { minimum: 1, maximum: 3 } };
    await management.kubectl([
      "patch",
      "shootmachinepool/managed-worker",
      "--type=merge",
      "-p",
      JSON.stringify(bounds),
    ]);
    await management.kubectl(["annotate", "machinepool/managed-worker", "cluster.x-k8s.io/replicas-managed-by=shoot"]);
    await eventually(async () => {
      const [row] = (await shoot.read())?.spec.provider.workers ?? [];
      expect(row).toMatchObject({ name: "worker", minimum: 1, maximum: 3 });
    }, 60_000);
    // What is wanted of the pool is what is there from now on, whatever its replicas were.
    await management.kubectl(["patch", "machinepool/managed-worker", "--type=merge", "-p", '{"spec":{"replicas":3}}']);
    await eventually(async () => expect((await read(MachinePool, "managed-worker"))?.spec.replicas).toBe(1), 60_000);
    expect(await nodes()).toHaveLength(1);
  });
});

describe("a Cluster that is deleted", () => {
  test("goes with its Shoot and its machines, and nothing is left of it anywhere", async () => {
    const begin = performance.now();
    await management.kubectl(["delete", "cluster", "managed", "--wait=false"]);
    await eventually(async () => expect(await inManagement()).toEqual([]), 300_000);
    await shoot.gone(60_000);
    told.push(`deleted in ${seconds(begin)} s`);
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 60_000);
  });
});

/** What must not be otherwise while a control plane moves. */
const mustHold = new Set([
  "Available",
  "Ready",
  "Serving",
  "Surfaced",
  "perennial.dev/EndpointReady",
  "RemoteConnectionProbe",
  "ControlPlaneAvailable",
]);

const read = <T extends Cluster | ClusterEndpoint | MachinePool | ShootControlPlane | ShootMachinePool>(
  kind: Kind<T>,
  name: string,
) => local.gardenClient.read(refTo(kind, { namespace, name }));

const inCluster = (args: readonly string[], input?: string) => management.inCluster("managed", args, input);

async function conditionOf(kind: typeof Cluster, name: string, type: string): Promise<string | undefined> {
  const found = await read(kind, name);
  return found?.status?.conditions?.find((one) => one.type === type)?.status;
}

async function reasonOf(kind: typeof ClusterEndpoint, name: string, type: string): Promise<string | undefined> {
  const found = await read(kind, name);
  return found?.status?.conditions?.find((one) => one.type === type)?.reason;
}

const nodes = () => management.nodes("managed");

const identityOf = (node: Node | undefined) => ({ name: node?.metadata.name, uid: node?.metadata.uid });

/** Who is who: Cluster, endpoint and Shoot by uid, the endpoint's value, the Nodes. */
async function identities(): Promise<unknown> {
  const [cluster, endpoint] = [await read(Cluster, "managed"), await read(ClusterEndpoint, "managed-control-plane")];
  const uids = [cluster?.metadata.uid, endpoint?.metadata.uid, (await shoot.read())?.metadata.uid];
  const values = [cluster?.spec.controlPlaneEndpoint, endpoint?.spec.host, endpoint?.spec.port];
  const refs = (await read(MachinePool, "managed-worker"))?.status?.nodeRefs;
  return { uids, values, refs, nodes: (await nodes()).map(identityOf) };
}

/** Waits until a pool says that it has as many machines, and names the Nodes that there are. */
async function poolFollows(count: number): Promise<void> {
  await eventually(async () => {
    const pool = await read(MachinePool, "managed-worker");
    const refs = (pool?.status?.nodeRefs ?? []).map(({ uid }) => uid).sort();
    expect(refs).toHaveLength(count);
    expect(refs).toEqual((await nodes()).map(({ metadata }) => metadata.uid).sort());
    expect(pool?.status?.replicas).toBe(count);
  }, 240_000);
}

/** Objects of the Cluster in the management cluster, by kind and name. */
async function inManagement(): Promise<readonly string[]> {
  const kinds: readonly Kind[] = [Cluster, ClusterEndpoint, MachinePool, ShootControlPlane, ShootMachinePool, Secret];
  const found = await Promise.all(kinds.map((kind) => local.gardenClient.list(kind, { namespace })));
  return found
    .flat()
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((name) => name.includes("managed"));
}

function seconds(begin: number): string {
  return ((performance.now() - begin) / 1_000).toFixed(1);
}
