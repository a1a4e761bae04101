import { describe, expect, it } from "vitest";
import { planFlow } from "../../../src/flow/plan.ts";
import { deleteShoot } from "../../../src/workflows/delete.ts";
import { forceDelete } from "../../../src/workflows/force-delete.ts";
import { migrate } from "../../../src/workflows/migrate.ts";
import { reconcile } from "../../../src/workflows/reconcile.ts";
import { restore } from "../../../src/workflows/restore.ts";
import { before, extended, lifecycle, plan } from "../../support/flow-tables.ts";
import { shootRun } from "../../support/shoot-run.ts";

describe("the rows of machine-controller-manager", () => {
  const rows = ["machineAccess", "machineControllerManager", "clusterAutoscaler", "forgetMachineState"];
  const destroying = ["destroyMachineControllerManager", "destroyClusterAutoscaler"];
  it("do nothing where the Worker's controller makes machines itself, but look for one that is left before a move", () => {
    for (const flow of [reconcile, restore, migrate, deleteShoot, forceDelete]) {
      const names = [...flow.steps.keys()].filter((name) => /Machine(Controller|Access|State)|ClusterAuto/i.test(name));
      expect(names.length, flow.title).toBeGreaterThan(1);
      const facts = { namespaceUsable: true, cleanable: true, hibernated: true, fallsAsleep: true };
      const done = planFlow(flow, shootRun(facts)).filter(({ step, skipped }) => names.includes(step) && !skipped);
      expect(
        done.map(({ step }) => step),
        flow.title,
      ).toEqual(flow === migrate ? ["stopMachineControllerManager"] : []);
    }
  });
  it("have it there before a Worker asks for machines, and until the last is gone", () => {
    for (const flow of [reconcile, restore])
      expect([...before(flow, "worker")], flow.title).toEqual(expect.arrayContaining(rows.slice(0, 2)));
    expect([...before(deleteShoot, "removeWorker")]).toEqual(expect.arrayContaining(rows.slice(0, 2)));
    expect(before(deleteShoot, "destroyMachineControllerManager")).toContain("removeWorker");
    expect(before(deleteShoot, "destroyKubeApiServer")).toContain("destroyMachineControllerManager");
  });
  it("ask for more machines only where there is a Worker, and for none while users' objects or machines go", () => {
    for (const flow of [reconcile, restore]) {
      expect(before(flow, "clusterAutoscaler"), flow.title).toContain("worker");
      expect(before(flow, "worker"), flow.title).toContain("stopClusterAutoscaler");
    }
    expect(before(deleteShoot, "cleanKubernetesResources")).toContain("destroyClusterAutoscaler");
  });
  it("see it gone in the source before the Worker migrates, and bring its state to the garden after that", () => {
    expect([...before(migrate, "migrateWorker")]).toEqual(
      expect.arrayContaining(["stopMachineControllerManager", "stopClusterAutoscaler"]),
    );
    expect(before(migrate, "persistState")).toContain("stopMachineControllerManager");
    expect(before(restore, "forgetMachineState")).toContain("worker");
  });
  it("stop it before what it works through when the Shoot falls asleep, and after its machines have gone", () => {
    for (const flow of [reconcile, restore]) {
      expect(before(flow, "stopApiServer"), flow.title).toContain("stopMachineControllerManager");
      expect(before(flow, "stopMachineControllerManager"), flow.title).toContain("worker");
    }
  });
  it("take it away before a namespace that is deleted by force", () => {
    expect([...before(forceDelete, "removeNamespace")]).toEqual(expect.arrayContaining(destroying));
  });
});

describe("the rows of extensions", () => {
  const early = "extensionsBeforeApiServer";
  const late = ["extensionsAfterApiServer", "extensionsAfterWorker", "containerRuntime"];
  it("act in the phase that a registration says, and not at all for a Shoot without such an Extension", () => {
    for (const flow of [reconcile, restore])
      for (const [phase, row] of [
        ["BeforeKubeAPIServer", early],
        ["AfterKubeAPIServer", "extensionsAfterApiServer"],
        ["AfterWorker", "extensionsAfterWorker"],
      ] as const) {
        const rows = plan(flow, { extensions: [{ type: "one", ...lifecycle(phase) }] }).done.filter((step) =>
          /^extensions/.test(step),
        );
        expect(rows, flow.title).toEqual([row]);
      }
  });
  const orders = [
    [reconcile, "kubeApiServer", [early, "referencedResources"]],
    [restore, "kubeApiServer", [early, "referencedResources"]],
    [restore, "oldApiServer", [early]],
    [reconcile, "extensionsAfterApiServer", ["kubeApiServer", "shootClients", "referencedResources"]],
    [reconcile, "network", ["extensionsAfterApiServer"]],
    [reconcile, "operatingSystemConfig", ["extensionsAfterApiServer"]],
    [reconcile, "extensionsAfterWorker", ["worker", "referencedResources"]],
    [reconcile, "containerRuntime", ["network", "resourceManager", "referencedResources"]],
    [reconcile, "staleExtensions", ["worker", "shootClients"]],
    [reconcile, "stopApiServer", late],
    [reconcile, "extensionsAsleep", ["stopEtcd"]],
    [deleteShoot, "removeExtensionsBeforeApiServer", ["cleanKubernetesResources", "removeOperatingSystemConfig"]],
    [deleteShoot, "destroyKubeApiServer", ["removeExtensionsBeforeApiServer", "removeContainerRuntime"]],
    [deleteShoot, "removeExtensionsAfterApiServer", ["destroyKubeApiServer"]],
    [deleteShoot, "removeNamespace", ["removeExtensionsAfterApiServer"]],
    [migrate, "migrateControlPlane", ["migrateExtensionsBeforeApiServer", "migrateContainerRuntime"]],
    [migrate, "migrateExtensionsAfterApiServer", ["migrateControlPlane"]],
    [forceDelete, "removeManagedResources", ["removeExtensionsBeforeApiServer", "removeExtensionsAfterApiServer"]],
  ] as const;
  it.each(orders.map(([flow, step, first]) => ({ title: flow.title, flow, step, first })))(
    "of $title: $step comes after $first",
    ({ flow, step, first }) => expect([...before(flow, step)]).toEqual(expect.arrayContaining([...first])),
  );
  it("tell an Extension of the phase before the API server that the Shoot sleeps once the API server has stopped", () => {
    for (const flow of [reconcile, restore]) {
      const { done, skipped } = plan(flow, { ...extended, hibernated: true });
      expect(done, flow.title).toContain("extensionsAsleep");
      expect(skipped, flow.title).toEqual(expect.arrayContaining([early, "staleExtensions"]));
    }
  });
});
