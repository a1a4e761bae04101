import { expect, test } from "vitest";
import { exposureClassCauses, withExposureClass } from "../../../src/admission/shoot/exposure-class.ts";
import type { ExposureClass, Seed, Shoot } from "../../../src/api/index.ts";
import { placementObstacles } from "../../../src/api/placement/choice.ts";
import { shootRights } from "../../../src/controllers/seed-access/rights.ts";
import type { KubeClient } from "../../../src/kube/index.ts";

const scheduling = {
  seedSelector: {
    matchLabels: { network: "internal" },
    matchExpressions: [{ key: "zone", operator: "Exists" }],
    providerTypes: ["local"],
  },
  tolerations: [{ key: "internal", value: "yes" }],
};

/** A garden with ExposureClass `internal` and no other. */
const garden = (change: Partial<ExposureClass> = {}): KubeClient =>
  ({
    read: async (_: unknown, { name }: { readonly name: string }) =>
      name === "internal" ? { metadata: { name }, handler: "dmz", scheduling, ...change } : undefined,
  }) as unknown as KubeClient;

type Spec = Shoot["spec"];
const spec = (change: Partial<Spec> = {}) =>
  ({ exposureClassName: "internal", region: "local", provider: { type: "local" }, ...change }) as Spec;
const seed = (labels: Record<string, string>, taints: Seed["spec"]["taints"] = []) =>
  ({ metadata: { name: "one", labels }, spec: { provider: { type: "local" }, taints } }) as unknown as Seed;

test("a Shoot gets what its class asks of Seeds, beside what it says itself", async () => {
  const own = spec({
    seedSelector: { matchLabels: { env: "prod" } },
    tolerations: [{ key: "mine" }],
  });
  const merged = await withExposureClass(garden(), own);
  expect(merged.seedSelector).toEqual({
    ...scheduling.seedSelector,
    matchLabels: { env: "prod", network: "internal" },
  });
  expect(merged.tolerations).toEqual([{ key: "mine" }, ...scheduling.tolerations]);
  expect(await withExposureClass(garden(), merged)).toEqual(merged);
  expect(await exposureClassCauses(garden(), merged)).toEqual([]);
});

test("a Shoot that drops what its class asks for gets it again, and one that changes other fields stays as it is", async () => {
  const merged = await withExposureClass(garden(), spec());
  expect(await withExposureClass(garden(), spec(), merged)).toEqual(merged);
  expect(await withExposureClass(garden(), spec({ purpose: "testing" }), spec())).toEqual(spec({ purpose: "testing" }));
});

test("a Shoot without a class, or with one that asks for nothing, is left as it is", async () => {
  const none = spec({ exposureClassName: undefined });
  expect(await withExposureClass(garden(), none)).toBe(none);
  const anywhere = garden({ scheduling: undefined });
  expect(await withExposureClass(anywhere, spec())).toEqual(spec());
  expect(await exposureClassCauses(anywhere, spec())).toEqual([]);
});

test("a Shoot of an unknown class, or of one that goes, is refused", async () => {
  const unknown = spec({ exposureClassName: "none" });
  const message = "there is no ExposureClass none: see kubectl get exposureclasses, or leave it out";
  expect(await exposureClassCauses(garden(), unknown)).toEqual([{ field: "spec.exposureClassName", message }]);
  expect(await exposureClassCauses(garden(), unknown, unknown)).toEqual([]);
  const metadata = { name: "internal", deletionTimestamp: "2026-01-01T00:00:00Z" };
  const [cause] = await exposureClassCauses(garden({ metadata }), spec());
  expect(cause?.message).toBe("ExposureClass internal is being deleted: choose another");
});

test.each<[string, Partial<Spec>, string]>([
  ["a label", { seedSelector: { matchLabels: { network: "public" } } }, "spec.seedSelector.matchLabels"],
  ["a provider", { seedSelector: { providerTypes: ["local", "aws"] } }, "spec.seedSelector.providerTypes"],
  ["a toleration", { tolerations: [{ key: "internal", value: "no" }] }, "spec.tolerations"],
])("a Shoot that contradicts its class by %s is refused", async (_, change, field) => {
  const causes = await exposureClassCauses(garden(), await withExposureClass(garden(), spec(change)));
  expect(causes).toEqual([
    { field, message: expect.stringMatching(/^contradict ExposureClass internal, which .*: leave \S+ out$/) },
  ]);
});

test("a Seed that the class does not select is refused by name, and a taint that the class tolerates does not stand against it", async () => {
  const shoot = { spec: await withExposureClass(garden(), spec()) };
  const right = { network: "internal", zone: "a" };
  expect(placementObstacles({ shoot, seed: seed(right, [{ key: "internal", value: "yes" }]) })).toEqual([]);
  const said = placementObstacles({ shoot, seed: seed({ zone: "a" }) }).map(({ message }) => message);
  expect(said).toEqual([
    "asks for label network=internal, which Seed one does not have: choose another Seed or change the selector",
  ]);
});

test("a seed may read the class of its Shoots, and no other", () => {
  const shoot = { apiVersion: "v1", kind: "Shoot", metadata: { name: "s", namespace: "n", uid: "u" } };
  const rightsOf = (one: Spec) => shootRights({ ...shoot, spec: one }, undefined).filter((right) => !right.namespace);
  expect(rightsOf(spec())).toEqual([
    {
      rules: [
        {
          apiGroups: ["core.gardener.cloud"],
          ...{ resources: ["exposureclasses"], resourceNames: ["internal"], verbs: ["get"] },
        },
      ],
    },
  ]);
  expect(rightsOf(spec({ exposureClassName: undefined }))).toEqual([]);
});
