import { expect } from "vitest";
import { Infrastructure, Shoot } from "../../src/api/index.ts";
import { judgeSteps } from "../../src/cli/report/changes.ts";
import { planFlow } from "../../src/flow/plan.ts";
import { Deployment, refTo, StatefulSet, type KubeClient } from "../../src/kube/index.ts";
import { reconcile } from "../../src/workflows/reconcile.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { startReconciledShoot, type ReconciledShoot } from "../support/reconciled-shoot.ts";

let kube: KubeClient;
let shoot: ReconciledShoot;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  shoot = await startReconciledShoot(cluster);
});
test.afterAll(() => shoot.stop());

/** What the steps of a Reconcile that an operator asks for would do now, by their names. */
const judged = async () => {
  const run = { ...shoot.run, periodic: false };
  const { shootClients } = shoot;
  const judging = { gardenClient: kube, seedClient: kube, shootClients, run };
  const steps = await judgeSteps(judging, reconcile, planFlow(reconcile, run));
  return new Map(steps.map(({ step, would, why }) => [step, { would, why }]));
};

const inNamespace = (name: string) => ({ namespace: shoot.run.technicalID, name });

test("a plan says of every step that acts in the seed what it would do, where all is in place", async () => {
  const steps = await judged();
  const asking = ["controlPlane", "operatingSystemConfig", "network", "worker"];
  for (const step of Object.keys(shoot.rows).filter((one) => !asking.includes(one)))
    expect(steps.get(step), step).toEqual({ would: "look", why: undefined });
  for (const step of asking)
    expect(steps.get(step)).toEqual({
      would: "ask",
      why: expect.stringContaining("its controller is asked to act"),
    });
  expect(steps.get("shareState")).toEqual({ would: undefined, why: undefined });
});

test("a plan says which fields a step would change, and touches nothing of them", async () => {
  const before = await kube.list(Deployment);
  const { namespace, name } = shoot.run;
  const eventTTL = (value: string | null) =>
    kube.patch(refTo(Shoot, { namespace, name }), { spec: { kubernetes: { kubeAPIServer: { eventTTL: value } } } });
  await eventTTL("4h");
  const steps = await judged();
  expect(steps.get("kubeApiServer")).toEqual({
    would: "change",
    why: `Deployment ${shoot.run.technicalID}/kube-apiserver: spec.template.spec.containers`,
  });
  expect(steps.get("cluster")?.why).toContain("spec.shoot.spec.kubernetes");
  expect(steps.get("etcd")).toEqual({ would: "look", why: undefined });
  expect(await kube.list(Deployment)).toEqual(before);
});

test("a plan repairs what was changed by hand, makes what is missing, and names what a step would wait for", async () => {
  await kube.patch(refTo(StatefulSet, inNamespace("etcd-main")), { spec: { replicas: 0 } });
  await kube.remove(refTo(Deployment, inNamespace("kube-scheduler")));
  const notReady = { status: { readyReplicas: 0 } };
  await kube.patch(refTo(Deployment, inNamespace("kube-controller-manager")), notReady, { subresource: "status" });
  const lastOperation = { state: "Error", description: "no quota" };
  const infrastructure = refTo(Infrastructure, inNamespace(shoot.run.name));
  await kube.patch(infrastructure, { status: { lastOperation } }, { subresource: "status" });
  const steps = await judged();
  expect(steps.get("etcd")).toMatchObject({ would: "change", why: expect.stringContaining("spec.replicas") });
  expect(steps.get("kubeScheduler")).toMatchObject({ would: "change", why: expect.stringContaining("is made") });
  expect(steps.get("kubeControllerManager")).toMatchObject({
    would: "look",
    why: expect.stringContaining("0 of 1 pods are ready"),
  });
  expect(steps.get("infrastructure")).toMatchObject({ would: "ask" });
});
