import { describe, expect, it } from "vitest";
import type { ShootRun } from "../../../src/api/shoot/run.ts";
import type { Flow } from "../../../src/flow/flow.ts";
import { planFlow } from "../../../src/flow/plan.ts";
import { deleteShoot } from "../../../src/workflows/delete.ts";
import { migrate } from "../../../src/workflows/migrate.ts";
import { reconcile } from "../../../src/workflows/reconcile.ts";
import { restore } from "../../../src/workflows/restore.ts";
import type { FlowSubject } from "../../../src/workflows/steps.ts";
import { shootRun } from "../../support/shoot-run.ts";

const refuse = () => Promise.reject(new Error("a plan touches nothing"));
const runner: FlowSubject["runner"] = {
  attempt: refuse,
  wait: refuse,
  acting: () => {
    throw new Error("a plan touches nothing");
  },
  garden: () => {
    throw new Error("a plan touches nothing");
  },
};

function plan(flow: Flow<FlowSubject>, change: Partial<ShootRun> = {}) {
  const steps = planFlow(flow, { run: shootRun(change), runner });
  return {
    done: steps.filter(({ skipped }) => !skipped).map(({ step }) => step),
    skipped: steps.filter(({ skipped }) => skipped).map(({ step }) => step),
  };
}

/** Every step that has to be over before this one begins. */
function before(flow: Flow<FlowSubject>, step: string, found = new Set<string>()): Set<string> {
  for (const one of flow.steps.get(step)?.after ?? []) {
    if (found.has(one)) continue;
    found.add(one);
    before(flow, one, found);
  }
  return found;
}

describe("the reconcile table", () => {
  it("skips nothing for a Shoot that has everything", () => {
    expect(plan(reconcile, { leadershipRecord: "local.dev.example.com" }).skipped).toEqual([]);
  });
  it("never touches machines, or what they need, for a Shoot without workers", () => {
    const { done } = plan(reconcile, { workerless: true });
    for (const step of ["infrastructure", "controlPlane", "network", "worker", "nodesReady", "kubeScheduler"])
      expect(done).not.toContain(step);
    expect(done).toContain("kubeApiServer");
  });
  it("leaves DNS and the Shoot's own API server alone while it hibernates", () => {
    const { skipped } = plan(reconcile, { hibernated: true });
    expect(skipped).toEqual(expect.arrayContaining(["internalDns", "externalDns", "shootClients", "nodesReady"]));
  });
  it.each([
    ["kubeApiServer", ["etcd", "accessSecrets", "infrastructure", "apiServerService"]],
    ["controlPlane", ["kubeApiServer", "infrastructure"]],
    ["worker", ["infrastructure", "operatingSystemConfig", "nodeAgent", "network", "kubeControllerManager"]],
    ["infrastructure", ["cluster", "cloudProviderSecret", "secrets"]],
    ["staleConfigs", ["worker", "nodesReady"]],
  ])("does %s only after %j", (step, first) => {
    expect([...before(reconcile, step)]).toEqual(expect.arrayContaining(first));
  });
});

describe("the delete table", () => {
  it("deploys nothing into a namespace that is being deleted", () => {
    const { done } = plan(deleteShoot, { namespaceUsable: false, cleanable: false, controlPlaneNeeded: false });
    expect(done.filter((step) => !/^(remove|destroy)/.test(step))).toEqual([]);
  });
  it("cleans nothing where there is no control plane to clean through", () => {
    const { skipped } = plan(deleteShoot, { cleanable: false });
    expect(skipped).toEqual(expect.arrayContaining(["etcd", "kubeApiServer", "cleanKubernetesResources"]));
  });
  it.each([
    ["removeWorker", ["cleanKubernetesResources", "cleanExtendedApis", "cleanWebhooks"]],
    ["removeControlPlane", ["removeWorker", "removeNetwork", "removeOperatingSystemConfig"]],
    ["destroyKubeApiServer", ["removeControlPlane"]],
    ["removeInfrastructure", ["removeControlPlane"]],
    ["removeNamespace", ["destroyEtcd", "removeInfrastructure", "removeInternalDns", "removeExternalDns"]],
    ["removeCluster", ["removeNamespace"]],
  ])("does %s only after %j", (step, first) => {
    expect([...before(deleteShoot, step)]).toEqual(expect.arrayContaining(first));
  });
  it("removes every extension kind that reconcile applies", () => {
    const steps = [...deleteShoot.steps.keys()];
    const kinds = [
      "Infrastructure",
      "ControlPlane",
      "Network",
      "OperatingSystemConfig",
      "Worker",
      "InternalDns",
      "ExternalDns",
    ];
    expect(steps).toEqual(expect.arrayContaining(kinds.map((kind) => `remove${kind}`)));
  });
});

const migration = { source: "seed-1", destination: "seed-2", takeover: false };
const kinds = [
  "Worker",
  "Network",
  "OperatingSystemConfig",
  "ControlPlane",
  "Infrastructure",
  "InternalDns",
  "ExternalDns",
];

describe("the migrate table", () => {
  it("keeps the state only after every kind has migrated, and flips last of all", () => {
    const migrating = kinds.map((kind) => `migrate${kind}`);
    expect([...before(migrate, "persistState")]).toEqual(expect.arrayContaining(migrating));
    expect([...before(migrate, "flip")].sort()).toEqual(
      [...migrate.steps.keys()].filter((one) => one !== "flip").sort(),
    );
  });
  it("touches nothing of the source before the destination is ready", () => {
    expect([...before(migrate, "migrateWorker")]).toEqual(
      expect.arrayContaining(["destinationNamespace", "destinationSecrets", "destinationImages", "firstSnapshot"]),
    );
  });
  it("asks nothing of the source when it is taken over from", () => {
    const { done } = plan(migrate, { migration: { ...migration, takeover: true } });
    expect(done).toEqual(["check", "destinationNamespace", "destinationSecrets", "destinationImages", "flip"]);
  });
});

describe("the restore table", () => {
  it("has every step of reconcile that brings something into being", () => {
    const steps = new Set(restore.steps.keys());
    expect([...reconcile.steps.keys()].filter((step) => !steps.has(step))).toEqual([]);
  });
  it.each([
    ["oldApiServer", ["leases", "fence", "infrastructure", "backupEntry", "accessSecrets"]],
    ["finalSnapshot", ["oldApiServer"]],
    ["oldEtcd", ["finalSnapshot"]],
    ["etcdVolume", ["copiedBackups", "finalSnapshot", "leases"]],
    ["etcd", ["etcdVolume", "oldEtcd", "oldApiServer"]],
    ["internalDns", ["kubeApiServer"]],
    ["worker", ["leases", "infrastructure", "kubeApiServer", "controlPlane"]],
  ])("does %s only after %j", (step, first) => {
    expect([...before(restore, step)]).toEqual(expect.arrayContaining(first));
  });
  it("lets no extension act before the leases of the old seed are over", () => {
    for (const step of ["infrastructure", "backupEntry", "internalDns", "controlPlane", "network", "worker"])
      expect(before(restore, step), step).toContain("leases");
  });
  it("moves nothing when a migration was given up", () => {
    const leadershipRecord = "local.dev.example.com";
    const { skipped } = plan(restore, { leadershipRecord, migration: { ...migration, destination: "seed-1" } });
    expect(skipped.sort()).toEqual(
      [
        "leases",
        "fence",
        "keptSecrets",
        "oldApiServer",
        "finalSnapshot",
        "oldEtcd",
        "copiedBackups",
        "etcdVolume",
      ].sort(),
    );
  });
  it("asks nothing of the source when it was taken over from, but waits for its leases", () => {
    const { skipped } = plan(restore, { migration: { ...migration, takeover: true } });
    expect(skipped).toEqual(["leadership", "fence", "oldApiServer", "finalSnapshot", "oldEtcd"]);
  });
});
