import { expect, test } from "vitest";
import { readQuotaCauses } from "../../../src/admission/shoot/quota-use.ts";
import type { KubeClient } from "../../../src/kube/index.ts";

test("a Shoot is judged by its Quota soon, however many bindings of a project name it, and however many Shoots there are", async () => {
  const quotas = Array.from({ length: 20 }, (_, index) => ({ namespace: "garden-b", name: `quota-${index}` }));
  const bindings = Array.from({ length: 2_000 }, (_, index) => ({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "SecretBinding", quotas },
    metadata: { namespace: "garden-b", name: `binding-${index}` },
  }));
  const shoots = Array.from({ length: 10_000 }, (_, index) => ({
    metadata: { namespace: `garden-${index % 100}`, name: `shoot-${index}` },
    spec: {
      secretBindingName: `binding-${index}`,
      cloudProfile: { kind: "CloudProfile", name: "local" },
      provider: {},
    },
  }));
  const spec = { scope: { apiVersion: "v1", kind: "Secret" }, metrics: { cpu: "4" } };
  const objects: Readonly<Record<string, readonly unknown[]>> = { SecretBinding: bindings, Shoot: shoots };
  const client = {
    read: async ({ kind }: { kind: string }, metadata: object) =>
      kind === "Quota" ? { metadata, spec } : objects[kind]?.[0],
    list: async ({ kind }: { kind: string }) => objects[kind] ?? [],
  } as unknown as KubeClient;
  const shoot = { ...shoots[0], metadata: { namespace: "garden-b", name: "new" } };
  const before = process.cpuUsage();
  expect(await readQuotaCauses(client, { shoot, now: new Date() } as never)).toEqual([]);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(200);
});
