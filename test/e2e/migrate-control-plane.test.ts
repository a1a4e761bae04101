import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { KEPT_SNAPSHOTS_ANNOTATION } from "../../src/api/annotations.ts";
import { backupEntryName } from "../../src/api/extensions/backup-entry.ts";
import { ExtensionBackupEntry, Shoot } from "../../src/api/index.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { ConfigMap, createKubeClient, Node, Pod, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { helloImage } from "../../src/local/image/images.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { startDowntimeProbe } from "../support/downtime-probe.ts";
import { applyWords, createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment, type SeedName } from "../support/local-environment.ts";
import { findSeedRemains, findShootRemains } from "../support/shoot-remains.ts";
import { leaveUnrecorded } from "../support/unrecorded-snapshot.ts";
import { findSecrets } from "../support/shoot-secrets.ts";

let local: LocalEnvironment;
let shoot: TestShoot;
let before: World;
let noted: string | undefined;
let kubeconfig: string;
const told: string[] = [];

beforeAll(async () => void (local = await localEnvironment()));
afterAll(() => local?.close());

describe("a Shoot that moves to another seed", () => {
  test("serves its users before it moves", async () => {
    await applyWords(local);
    shoot = await createShoot(local, { name: "move", extended: true });
    await shoot.settles("Succeeded", "Create");
    kubeconfig = await published();
    before = await withCluster(async (cluster) => {
      for (const object of userObjects()) await cluster.apply(object, { fieldManager: "test" });
      await eventually(async () => expect(await runningPods(cluster)).toHaveLength(1), 60_000);
      return look(cluster);
    });
    expect(before.nodes).toHaveLength(1);
    noted = (await noteIn("seed-1"))?.["since"];
    expect(noted).toBeDefined();
  });

  test("is planned first: the plan says what the move takes, and changes nothing", async () => {
    const generation = (await shoot.read())?.metadata.generation;
    const plan = await local.perennial("shoot", "migrate", "garden-dev/move", "--to", "seed-2", "--plan");
    expect(plan).toMatch(/seed-1.*seed-2/s);
    for (const step of ["migrateWorker", "flip", "finalSnapshot", "etcdVolume"]) expect(plan).toContain(step);
    expect((await shoot.read())?.metadata.generation).toBe(generation);
    await expect(local.perennial("shoot", "migrate", "garden-dev/move", "--to", "seed-7", "--plan")).rejects.toThrow(
      /seed-7/,
    );
  });

  test("keeps its nodes, pods and data while its API server goes over", async () => {
    const probe = startDowntimeProbe(kubeconfig, "/api/v1/namespaces/app/configmaps/ledger", {
      dnsServer: local.environment.gateway,
    });
    const begin = performance.now();
    await migrate("seed-2");
    const { longestGap, failed, probes } = await probe.stop();
    told.push(`moved in ${seconds(begin)} s; API server away for ${longestGap} ms (${failed} of ${probes} probes)`);
    expect(longestGap).toBeGreaterThan(200);
    await unchanged();
  });

  test("takes its Extensions along, with their state and what they refer to", async () => {
    expect(await noteIn("seed-2")).toEqual({ text: "from the garden", since: noted });
  });

  test("leaves nothing behind, and says so in status.seeds", async () => {
    await eventually(async () => expect((await shoot.read())?.status?.seeds).toEqual(["seed-2"]), 120_000);
    expect(await findSeedRemains(local, shoot, "seed-1")).toEqual([]);
    expect(await leader()).toMatchObject({ seed: "seed-2", epoch: 2, previousSeed: "seed-1" });
  });

  test("has its keys and tokens nowhere in the clear outside its seed", async () => {
    expect(await findSecrets(local, shoot, "seed-2")).toEqual([]);
  });

  test("moves back, and its first seed leads under a new epoch", async () => {
    const begin = performance.now();
    const probe = startDowntimeProbe(kubeconfig, "/api/v1/namespaces/app/configmaps/ledger", {
      dnsServer: local.environment.gateway,
    });
    await migrate("seed-1");
    const { longestGap } = await probe.stop();
    told.push(`moved back in ${seconds(begin)} s; API server away for ${longestGap} ms`);
    expect(await leader()).toMatchObject({ seed: "seed-1", epoch: 3, previousSeed: "seed-2" });
    await unchanged();
    await eventually(async () => expect((await shoot.read())?.status?.seeds).toEqual(["seed-1"]), 120_000);
  });

  test("stays where it is when an operator cancels the move before the flip", async () => {
    await local.pause("provider-local-seed-1"); // nothing migrates while nobody acts
    try {
      await local.perennial("shoot", "migrate", "garden-dev/move", "--to", "seed-2", "-y");
      await shoot.begun("migrateWorker");
      await expect(bind("seed-3")).rejects.toThrow(/spec.seedName/);
      await expect(bind("seed-1")).rejects.toThrow(/cancel/);
      await local.perennial("shoot", "migrate", "garden-dev/move", "--cancel", "-y");
    } finally {
      await local.resume("provider-local-seed-1");
    }
    await shoot.settles("Succeeded", "Restore", 240_000);
    expect(await leader()).toMatchObject({ seed: "seed-1", epoch: 4 });
    await unchanged();
    await eventually(async () => expect((await shoot.read())?.status?.seeds).toEqual(["seed-1"]), 120_000);
    expect(await findSeedRemains(local, shoot, "seed-2")).toEqual([]);
  });

  test("is taken over from a seed that has died, which comes back and finds that it leads no more", async () => {
    await local.pause("worker-seed-1"); // from here on nothing is recorded
    await withCluster((cluster) => cluster.patch(ledgerRef, { data: { entry: "forty-three" } }));
    before = { ...before, ledger: "forty-three" };
    const left = await leaveUnrecorded(local, shoot, "seed-1");
    for (const process of seedOneProcesses.slice(1)) await local.pause(process);
    const begin = performance.now();
    try {
      await local.perennial("shoot", "migrate", "garden-dev/move", "--to", "seed-2", "-y");
      await eventually(async () => {
        const errors = (await shoot.lastErrors()).map(({ description }) => description).join("\n");
        expect(errors).toMatch(/Seed seed-1 has not answered for \d+ s.*--force-takeover/);
      }, 120_000);
      const takeover = ["--force-takeover", "--reason", "the machine of seed-1 burns"];
      await local.perennial("shoot", "migrate", "garden-dev/move", "--to", "seed-2", ...takeover, "-y");
      const { status } = await shoot.settles("Succeeded", "Restore", 300_000);
      told.push(`taken over in ${seconds(begin)} s from the first wish, ${local.environment.name}`);
      expect(status?.takeover).toMatchObject({ reason: "the machine of seed-1 burns", by: expect.stringMatching(/./) });
      expect(status?.seeds).toContain("seed-1");
      expect(await leader()).toMatchObject({ seed: "seed-2", epoch: 6, takeover: true });
      expect(await keptSnapshots()).toContain(left.good);
      expect(await keptSnapshots()).not.toContain(left.damaged);
    } finally {
      for (const process of seedOneProcesses.toReversed()) await local.resume(process);
    }
    await eventually(async () => expect((await shoot.read())?.status?.seeds).toEqual(["seed-2"]), 180_000);
    expect(await findSeedRemains(local, shoot, "seed-1")).toEqual([]);
    await unchanged();
  });

  test("is deleted where it is now, and nothing is left of it anywhere", async () => {
    await shoot.remove();
    await shoot.gone(240_000);
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 60_000);
    console.log(told.join("\n"));
  });
});

const ledgerRef = refTo(ConfigMap, { namespace: "app", name: "ledger" });

/** What has been recorded in seed-2, or is about to be. */
async function keptSnapshots(): Promise<string> {
  const name = backupEntryName(shoot.technicalID, shoot.ref.uid);
  const entry = await local.seeds["seed-2"].read(ExtensionBackupEntry, { name });
  return entry?.metadata.annotations?.[KEPT_SNAPSHOTS_ANNOTATION] ?? "";
}

/** A dead seed: nothing of it answers, and nothing of it knows. */
const seedOneProcesses = ["worker-seed-1", "provider-local-seed-1", "seed-1-kube-apiserver"];

async function migrate(to: SeedName): Promise<void> {
  const seen = new Set<string>();
  await local.perennial("shoot", "migrate", "garden-dev/move", "--to", to, "-y");
  await eventually(async () => {
    const { lastOperation, seeds = [] } = (await shoot.read())?.status ?? {};
    if (lastOperation) seen.add(`${lastOperation.type} ${lastOperation.state}`);
    expect(seeds).toHaveLength(2);
    expect(lastOperation).toMatchObject({ type: "Restore", state: "Succeeded", progress: 100 });
  }, 300_000);
  expect([...seen]).toEqual(expect.arrayContaining(["Migrate Processing", "Restore Processing"]));
}

/** What users would miss. */
/** What the Extension beside the control plane has noted. */
const noteIn = async (seed: SeedName) =>
  (await local.seeds[seed].read(ConfigMap, { namespace: shoot.technicalID, name: "local-note-seed" }))?.data;

interface World {
  /** When the notes in the Shoot were begun. */
  readonly notes: readonly (string | undefined)[];
  /** Names and uids. */
  readonly nodes: readonly string[];
  readonly pods: readonly string[];
  readonly ledger: string | undefined;
  /** Names and when they were made. */
  readonly machines: readonly string[];
}

async function unchanged(): Promise<void> {
  await withCluster(async (cluster) => {
    await eventually(async () => expect(await look(cluster)).toEqual(before), 60_000);
    await cluster.patch(refTo(ConfigMap, { namespace: "app", name: "scratch" }), {
      data: { written: String(Date.now()) },
    });
    // The controllers work, too: a pod that is deleted comes back.
    const [pod] = await runningPods(cluster);
    expect(pod?.status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  });
}

const sinceOf = async (cluster: KubeClient, name: string) =>
  (await cluster.read(ConfigMap, { namespace: "kube-system", name }))?.data?.["since"];

async function look(cluster: KubeClient): Promise<World> {
  const nodes = await cluster.list(Node);
  const ledger = await cluster.read(ConfigMap, { namespace: "app", name: "ledger" });
  const machines = (await local.machines.list()).filter(({ name }) => name.startsWith(shoot.technicalID));
  for (const { status } of nodes)
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  return {
    nodes: nodes.map(({ metadata: { name, uid } }) => `${name} ${uid}`),
    pods: (await runningPods(cluster)).map(
      ({ metadata: { name, uid }, status }) => `${name} ${uid} ${status?.containerStatuses?.[0]?.containerID}`,
    ),
    notes: [await sinceOf(cluster, "local-note-shoot"), await sinceOf(cluster, "local-note-nodes")],
    ledger: ledger?.data?.["entry"],
    machines: machines.map(({ name, createdAt }) => `${name} ${createdAt}`),
  };
}

async function runningPods(cluster: KubeClient): Promise<Pod[]> {
  const pods = await cluster.list(Pod, { namespace: "app" });
  return pods.filter(({ status }) => status?.phase === "Running");
}

/** With the Shoot's cluster, by the kubeconfig of the beginning, at the address that the DNS gives now. */
async function withCluster<T>(work: (cluster: KubeClient) => Promise<T>): Promise<T> {
  const document = parse(kubeconfig) as { clusters: [{ cluster: { server: string; "tls-server-name"?: string } }] };
  const [{ cluster: entry }] = document.clusters;
  const host = new URL(entry.server).hostname;
  const server = { address: local.environment.gateway, key: { file: "" } };
  const [address = ""] = await queryRecords(server, { name: host, type: "A" });
  Object.assign(entry, { server: `https://${address}:443`, "tls-server-name": host });
  const cluster = createKubeClient({ kubeconfig: stringify(document) }, { log: local.log });
  try {
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}

/** The kubeconfig as users have it. */
async function published(): Promise<string> {
  const secret = await local.gardenClient.read(Secret, { namespace: "garden-dev", name: "move.kubeconfig" });
  return Buffer.from(secret?.data?.["kubeconfig"] ?? "", "base64").toString();
}

const leader = async () => (await shoot.read())?.status?.leadership;

const bind = (seedName: string) =>
  local.gardenClient.patch(refTo(Shoot, { namespace: "garden-dev", name: "move" }), { spec: { seedName } });

function userObjects(): KubeObject[] {
  const labels = { app: "hello" };
  const container = { name: "hello", image: helloImage, ports: [{ containerPort: 8080 }] };
  const metadata = (name: string) => ({ name, namespace: "app" });
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "app" } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("ledger"), data: { entry: "forty-two" } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("scratch"), data: {} },
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: metadata("hello") },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
  ] as KubeObject[];
}

function seconds(begin: number): string {
  return ((performance.now() - begin) / 1_000).toFixed(1);
}
