import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ConfigMap,
  createKubeClient,
  Namespace,
  Node,
  Pod,
  refTo,
  typeMeta,
  type KubeClient,
} from "../../src/kube/index.ts";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { Shoot } from "../../src/api/index.ts";
import { createShoot, seedsOf, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment, type SeedName } from "../support/local-environment.ts";
import { findSeedRemains, findShootRemains } from "../support/shoot-remains.ts";

let local: LocalEnvironment;
let shoot: TestShoot;
let from: SeedName;
let to: SeedName;

beforeAll(async () => void (local = await localEnvironment()));
afterAll(() => local?.close());

describe("a Shoot that hibernates", () => {
  test("has neither machines nor pods of its control plane once it is asleep", async () => {
    shoot = await createShoot(local, { name: "sleeper" });
    await shoot.settles("Succeeded", "Create");
    ({ from, to } = await seedsOf(shoot));
    await withCluster(async (cluster) => {
      await cluster.apply({ ...typeMeta(Namespace), metadata: { name: ledger.metadata.namespace } });
      await cluster.apply({ ...ledger, data: { entry: "forty-two" } });
      expect(await readyNodes(cluster)).toHaveLength(1);
    });
    expect(await podsIn(from)).not.toEqual([]);

    await hibernate(true);
    expect((await shoot.read())?.status).toMatchObject({ hibernated: true });
    expect(await shoot.lastErrors()).toEqual([]);
    expect(await machines()).toEqual([]);
    await eventually(async () => expect(await podsIn(from)).toEqual([]), 60_000);
    expect(await local.perennial("shoot", "describe", "garden-dev/sleeper")).toMatch(/[Hh]ibernat/);
  });

  test("moves to another seed without waking up", async () => {
    await local.perennial("shoot", "migrate", "garden-dev/sleeper", "--to", to, "-y");
    const { status } = await shoot.settles("Succeeded", "Restore", 300_000);
    expect(status).toMatchObject({ hibernated: true, leadership: { seed: to, previousSeed: from } });
    expect(await machines()).toEqual([]);
    await eventually(async () => expect(await podsIn(to)).toEqual([]), 60_000);
    await eventually(async () => expect((await shoot.read())?.status?.seeds).toEqual([to]), 120_000);
    expect(await findSeedRemains(local, shoot, from)).toEqual([]);
  });

  test("wakes up in the other seed with its data and with new nodes", async () => {
    await hibernate(false);
    expect((await shoot.read())?.status?.hibernated ?? false).toBe(false);
    await withCluster(async (cluster) => {
      expect((await cluster.read(refTo(ConfigMap, ledger.metadata)))?.data).toEqual({ entry: "forty-two" });
      expect(await readyNodes(cluster)).toHaveLength(1);
    });
  });

  test("is deleted asleep: what its users made goes first, and nothing is left of it", async () => {
    await withCluster((cluster) =>
      cluster.patch(refTo(ConfigMap, ledger.metadata), { metadata: { finalizers: ["example.com/ledger"] } }),
    );
    await hibernate(true);
    await shoot.remove();
    await shoot.begun("cleanKubernetesResources");
    await withCluster((cluster) =>
      eventually(async () => {
        const { metadata } = (await cluster.read(refTo(ConfigMap, ledger.metadata))) ?? {};
        expect(metadata?.deletionTimestamp).toBeDefined();
      }, 60_000),
    );
    await withCluster((cluster) =>
      cluster.patch(refTo(ConfigMap, ledger.metadata), { metadata: { finalizers: null } }),
    );
    await shoot.gone(240_000);
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 60_000);
  });
});

const ledger = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "app", name: "ledger" } } as const;

/** Puts the Shoot to sleep or wakes it up, and waits until the operation for this has ended. */
async function hibernate(enabled: boolean): Promise<void> {
  const ref = refTo(Shoot, { namespace: shoot.ref.namespace, name: shoot.name });
  const { metadata } = await local.gardenClient.patch(ref, { spec: { hibernation: { enabled } } });
  await eventually(async () => {
    const { status } = (await shoot.read()) ?? {};
    expect(status?.observedGeneration).toBe(metadata.generation);
    expect(status?.lastOperation).toMatchObject({ type: "Reconcile", state: "Succeeded" });
  }, 240_000);
}

const machines = async () =>
  (await local.machines.list()).filter(({ name }) => name.startsWith(`${shoot.technicalID}-`));

/** The pods of the Shoot's control plane in a seed, but for those of Jobs that have ended. */
async function podsIn(seed: SeedName): Promise<string[]> {
  const pods = await local.seeds[seed].list(Pod, { namespace: shoot.technicalID });
  return pods.filter(({ status }) => status?.phase !== "Succeeded").map(({ metadata }) => metadata.name);
}

const readyNodes = async (cluster: KubeClient): Promise<Node[]> => (await cluster.list(Node)).filter(isReady);

async function withCluster<T>(work: (cluster: KubeClient) => Promise<T>): Promise<T> {
  const kubeconfig = await local.perennial("shoot", "kubeconfig", "garden-dev/sleeper");
  const cluster = createKubeClient({ kubeconfig }, { log: local.log });
  try {
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}
