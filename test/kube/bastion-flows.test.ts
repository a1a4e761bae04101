import { afterEach, expect } from "vitest";
import type { ShootBastion } from "../../src/api/index.ts";
import type { BastionRef } from "../../src/api/shoot/bastion-run.ts";
import { createBastionFlows } from "../../src/controllers/bastion-flows.ts";
import { refOf, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";

const namespace = "garden-dev";
const log = createLogger({ name: "test", level: "silent" });
let kube: KubeClient;
let told: BastionRef[] = [];
let controller: ReturnType<typeof createBastionFlows> | undefined;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
});
afterEach(async () => {
  await controller?.stop();
  told = [];
});

const start = (sweepPeriod = 3_600_000) => {
  const flows = { nudge: (ref: BastionRef) => Promise.resolve(void told.push(ref)) };
  controller = createBastionFlows({ gardenClient: kube, flows, log, sweepPeriod });
  controller.start();
};

const create = (name: string) =>
  kube.create<ShootBastion>({
    ...{ apiVersion: "operations.gardener.cloud/v1alpha1", kind: "Bastion" },
    metadata: { name, namespace, finalizers: ["gardener"] },
    spec: {
      ...{ shootRef: { name: "local" }, seedName: "seed-1", providerType: "local", sshPublicKey: "a" },
      ingress: [{ ipBlock: { cidr: "192.0.2.7/32" } }],
    },
  });
const toldOf = (name: string) => told.filter((ref) => ref.name === name);

test("the manager tells a Bastion's workflow what users ask for, and not what was written into its status", async () => {
  start();
  const bastion = await create("asked");
  await eventually(() => expect(toldOf("asked")).toHaveLength(1));
  expect(toldOf("asked")).toEqual([{ namespace, name: "asked", uid: bastion.metadata.uid }]);

  await kube.patch(refOf(bastion), { status: { ingress: { ip: "203.0.113.9" } } }, { subresource: "status" });
  await kube.patch(refOf(bastion), { metadata: { annotations: { "gardener.cloud/operation": "keepalive" } } });
  await create("later"); // events come in order
  await eventually(() => expect(toldOf("later")).toHaveLength(1));
  expect(toldOf("asked")).toHaveLength(1);

  await kube.patch(refOf(bastion), { spec: { ingress: [{ ipBlock: { cidr: "198.51.100.0/24" } }] } });
  await eventually(() => expect(toldOf("asked")).toHaveLength(2));
  await kube.remove(refOf(bastion));
  await eventually(() => expect(toldOf("asked")).toHaveLength(3));
});

test("a sweep tells the workflows of Bastions that ask for nothing, too, so that what becomes of them is seen", async () => {
  await create("idle");
  start(200);
  await eventually(() => expect(toldOf("idle").length).toBeGreaterThan(2));
});
