import { expect } from "vitest";
import { Shoot, type CloudProfile } from "../../src/api/index.ts";
import { createKubeClient, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { serveLocalAdmission } from "../../src/provider-local/admission/server.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const namespace = "garden-dev";
const ref = (name: string) => refTo(Shoot, { namespace, name });
const trigger = { annotations: { "trigger.gardener.cloud": "maintenance" } };

let plane: ControlPlane;
let client: KubeClient;
let stop: () => Promise<void>;

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  client = cluster.client;
  await applyGarden(client);
  const profile = (await exampleObjects()).find(({ kind }) => kind === "CloudProfile") as CloudProfile;
  const [image] = profile.spec.machineImages;
  if (image === undefined) throw new Error("the example CloudProfile has no image");
  const versions = [
    ...image.versions,
    { version: "1.10.0" },
    { version: "1.9.0" },
    { version: "2.0.0", classification: "preview" as const },
    { version: "1.11.0", expirationDate: "2026-01-01T00:00:00Z" },
    { version: "1.12.0", architectures: ["arm64"] },
  ];
  await client.apply({ ...profile, spec: { ...profile.spec, machineImages: [{ ...image, versions }] } });
  const log = createLogger({ name: "test", level: "silent" });
  ({ stop } = await serveLocalAdmission({ client, log, host: "127.0.0.1", port: 0 }));
  await eventually(async () => {
    const refusal = await createShoot(client, "asked", config).then(
      () => client.remove(ref("asked")),
      (error: unknown) => String(error),
    );
    return String(refusal).includes("infrastructureConfig");
  });
});
test.afterAll(() => stop());

const provider = (change: object = {}, pool: object = {}): Partial<Shoot["spec"]> => ({
  provider: {
    type: "local",
    ...change,
    workers: [
      {
        ...{ name: "w", minimum: 1, maximum: 1, ...pool },
        machine: { type: "local", image: { name: "local", version: "1.0.0" } },
      },
    ],
  },
});
const config = provider({ infrastructureConfig: { kind: "InfrastructureConfig" } });

test("the maintenance trigger gives machines the newest image that is meant for use, and goes", async () => {
  await createShoot(client, "maintained", provider());
  await client.patch(ref("maintained"), { metadata: { ...trigger } });
  const { metadata, spec } = (await client.read(ref("maintained"))) ?? {};
  expect(spec?.provider.workers?.[0]?.machine.image).toEqual({ name: "local", version: "1.10.0" });
  expect(metadata?.annotations ?? {}).not.toHaveProperty(["trigger.gardener.cloud"]);
  const before = metadata?.generation;
  await client.patch(ref("maintained"), { metadata: { ...trigger } });
  expect((await client.read(ref("maintained")))?.metadata.generation).toBe(before);
});

test("a Shoot that is not asked to be maintained keeps its image", async () => {
  await createShoot(client, "kept", provider());
  await client.patch(ref("kept"), { metadata: { labels: { a: "b" } } });
  expect((await client.read(ref("kept")))?.spec.provider.workers?.[0]?.machine.image?.version).toBe("1.0.0");
});

test("a Shoot that names no network gets the provider's", async () => {
  await createShoot(client, "networked", {
    ...provider(),
    networking: { pods: "10.1.0.0/16", services: "10.2.0.0/16" },
  });
  expect((await client.read(ref("networked")))?.spec.networking).toMatchObject({ type: "local", pods: "10.1.0.0/16" });
});

test.each([
  ["settings of infrastructure", config, "spec.provider.infrastructureConfig"],
  ["settings of a control plane", provider({ controlPlaneConfig: { a: 1 } }), "spec.provider.controlPlaneConfig"],
  ["settings of machines", provider({}, { providerConfig: { a: 1 } }), "spec.provider.workers[0].providerConfig"],
  ["a volume", provider({}, { volume: { size: "1Gi" } }), "spec.provider.workers[0].volume"],
  ["more volumes", provider({}, { dataVolumes: [{ name: "a", size: "1Gi" }] }), "spec.provider.workers[0].dataVolumes"],
])("a Shoot with %s, which this provider has not, is refused", async (_, change, field) => {
  await expect(createShoot(client, "odd", change)).rejects.toThrow(field);
});

test("what this provider does nothing about is admitted with a warning, once", async () => {
  const told: string[] = [];
  const asking = createKubeClient({ kubeconfig: plane.kubeconfig }, { onWarning: (text) => void told.push(text) });
  const pool = {
    ...{ maximum: 3, annotations: { a: "b" }, labels: { "node-role.kubernetes.io/db": "" }, priority: 1 },
    clusterAutoscaler: { scaleDownUnneededTime: "1h" },
    machineControllerManager: { machineDrainTimeout: "1h" },
  };
  await createShoot(asking, "warned", provider({}, pool));
  const field = "spec.provider.workers[0]";
  expect(told.toSorted()).toEqual([
    `${field}.annotations: Nodes do not get them`,
    `${field}.clusterAutoscaler: nothing acts on it, as this provider makes its machines itself`,
    `${field}.labels[node-role.kubernetes.io/db]: Nodes do not get it, as kubelets may not write it`,
    `${field}.machineControllerManager: nothing acts on it, as this provider makes its machines itself`,
    `${field}.maximum: nodes are not scaled by their load: the pool has 1, its minimum`,
    `${field}.priority: nothing acts on it, as this provider makes its machines itself`,
  ]);
  told.length = 0;
  await asking.patch(ref("warned"), { metadata: { labels: { a: "b" } } });
  expect(told).toEqual([]);
  await asking.close();
});

test("Shoots of other providers are not asked about", async () => {
  const other = { ...config.provider, type: "aws" };
  await expect(createShoot(client, "theirs", { provider: other })).resolves.toBeDefined();
});
