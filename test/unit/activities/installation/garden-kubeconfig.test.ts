import { expect, test } from "vitest";
import { withGardenKubeconfig } from "../../../../src/activities/installation/garden-kubeconfig.ts";
import type { KubeObject } from "../../../../src/api/index.ts";

const object = (apiVersion: string, kind: string, spec: object): KubeObject => ({
  ...{ apiVersion, kind, metadata: { name: "one" }, spec },
});
const pods = (env: object[] = []) => ({
  containers: [{ name: "a", env }],
  initContainers: [{ name: "i" }],
});
const names = (containers: readonly { env?: readonly { name: string }[] }[]) =>
  containers.map(({ env = [] }) => env.map(({ name }) => name));

test.each([
  ["apps/v1", "Deployment", { template: { spec: pods() } }],
  ["batch/v1", "CronJob", { jobTemplate: { spec: { template: { spec: pods() } } } }],
])("all containers of a %s %s learn where the garden is, and which Seed they are on", (apiVersion, kind, spec) => {
  const [changed] = withGardenKubeconfig([object(apiVersion, kind, spec)], "seed-1");
  const text = JSON.stringify(changed);
  expect(text.match(/"GARDEN_KUBECONFIG"/g)).toHaveLength(2);
  expect(text.match(/"SEED_NAME","value":"seed-1"/g)).toHaveLength(2);
  expect(text.match(/"mountPath"/g)).toHaveLength(2);
  expect(text.match(/"generic-garden-kubeconfig"/g)).toHaveLength(1);
});

test("a workload that has its own kubeconfig stays as it is, and so does what is no workload", () => {
  const own = object("apps/v1", "Deployment", {
    template: { spec: pods([{ name: "GARDEN_KUBECONFIG", value: "mine" }]) },
  });
  const other = object("v1", "Pod", pods());
  expect(withGardenKubeconfig([own, other], "seed-1")).toEqual([own, other]);
});

test("a name of the Seed that a container has already is kept", () => {
  const spec = { template: { spec: { containers: [{ name: "a", env: [{ name: "SEED_NAME", value: "mine" }] }] } } };
  const [changed] = withGardenKubeconfig([object("apps/v1", "Deployment", spec)], "seed-1");
  const { containers } = (changed?.["spec"] as typeof spec).template.spec;
  expect(names(containers)).toEqual([["SEED_NAME", "GARDEN_KUBECONFIG"]]);
});
