import { expect } from "vitest";
import {
  components,
  controlPlaneObject,
  dnsRecordObject,
  infrastructureObject,
  networkObject,
  nodeAgentSecret,
  operatingSystemConfigs,
  poolsOf,
  workerObject,
} from "../../src/components/index.ts";
import { exampleContext, exampleShoot } from "../support/control-plane-context.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";

/** As the Shoot's own API server, which takes the objects for the Shoot. */
const context = exampleContext();
const lookup = () => "";
let controlPlane: ControlPlane;

test.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  for (const object of components.namespace.objects(context)) await controlPlane.client.apply(object);
});

test.for(Object.keys(components) as (keyof typeof components)[])(
  "an API server accepts every object of %s, and applying them again changes nothing",
  async (name) => {
    for (const object of components[name].objects(context)) {
      const first = await controlPlane.client.apply(object);
      const second = await controlPlane.client.apply(object);
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    }
  },
);

test("the control plane can be put to sleep and woken up in place", async () => {
  const asleep = exampleContext({ shoot: exampleShoot({ hibernation: { enabled: true } }) });
  for (const each of [asleep, context]) {
    for (const name of ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const) {
      for (const object of components[name].objects(each)) await controlPlane.client.apply(object);
    }
  }
});

test("an API server accepts every extension object", async () => {
  const userData = { worker: { name: "osc-result-worker", key: "cloud_config" } };
  const objects = [
    infrastructureObject(context),
    controlPlaneObject(context, { vpc: "made" }),
    networkObject(context),
    dnsRecordObject(context, "internal", { type: "rfc2136" }),
    dnsRecordObject(context, "external", { type: "rfc2136", zone: "perennial.test" }),
    workerObject(context, { userData }),
    ...poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool)),
  ];
  for (const object of objects) await controlPlane.client.apply(object);
});

test("an API server accepts the Secrets that machines read", async () => {
  for (const pool of poolsOf(context)) {
    for (const config of operatingSystemConfigs(context, pool).slice(1)) {
      await controlPlane.client.apply(nodeAgentSecret(context, pool, config, lookup));
    }
  }
});
