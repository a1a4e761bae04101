import { describe, expect, test } from "vitest";
import { COMPOSED_ANNOTATION, OWNED_WORKERS_ANNOTATION } from "../../../src/api/annotations.ts";
import { CONTROL_PLANE_ID_LABEL } from "../../../src/api/labels.ts";
import {
  REPLICAS_MANAGED_BY_ANNOTATION,
  ShootCluster,
  type ShootControlPlane,
} from "../../../src/api/cluster-api/index.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { composeShoot, type Ingredients } from "../../../src/cluster-api/shoot/compose.ts";
import { covers } from "../../../src/cluster-api/objects/covers.ts";
import { clusterOf, controlPlaneOf, poolOf, shootOf, shootTemplate } from "../../support/cluster-api-objects.ts";

const key = { namespace: "garden-dev", name: "one" };

const compose = (o: Partial<Ingredients> = {}) =>
  composeShoot({
    cluster: clusterOf("one"),
    controlPlane: { ...controlPlaneOf("one"), metadata: { ...key, uid: "own" } },
    pools: [poolOf("one", "a")],
    key,
    ...o,
  });

function composed(o: Partial<Ingredients> = {}) {
  const made = compose(o);
  if ("obstacle" in made) throw new Error(made.obstacle.message);
  return made.shoot;
}

const reasonOf = (o: Partial<Ingredients>) => {
  const made = compose(o);
  return "obstacle" in made ? made.obstacle.reason : undefined;
};

/** The Shoot that stands, with rows of these names, of which some were brought by pools. */
function presentShoot(rows: readonly string[], owned: readonly string[]): Shoot {
  const workers = rows.map((name) => ({ name, minimum: 1, maximum: 1, machine: { type: "local" } }));
  const shoot = shootOf("one", { provider: { type: "local", workers } });
  const annotations = { [OWNED_WORKERS_ANNOTATION]: owned.join() };
  return { ...shoot, metadata: { ...key, labels: { [CONTROL_PLANE_ID_LABEL]: "own" }, annotations } };
}

const adopting: ShootControlPlane = {
  ...controlPlaneOf("one"),
  spec: { shootRef: { name: "one" }, version: "v1.34.4" },
};

describe("the Shoot of a control plane and its pools", () => {
  test("misses no row that pools of another Cluster have brought: the writer says whose the Shoot is", () => {
    const { metadata, ...rest } = presentShoot(["a", "b"], ["a", "b"]);
    const theirs = { ...rest, metadata: { ...metadata, labels: { [CONTROL_PLANE_ID_LABEL]: "another" } } };
    expect(reasonOf({ present: theirs })).toBeUndefined();
  });

  test("has the template's spec, the version without its v, and a row for each pool", () => {
    const shoot = composed({ pools: [poolOf("one", "b", { replicas: 3 }), poolOf("one", "a")] });
    expect(shoot.spec).toMatchObject({
      region: "local",
      dns: { domain: "one.dev.perennial.test" },
      kubernetes: { version: "1.34.4" },
      provider: {
        type: "local",
        workers: [
          { name: "a", minimum: 1, maximum: 1, machine: { type: "local" } },
          { name: "b", minimum: 3, maximum: 3 },
        ],
      },
    });
    expect(shoot.metadata.annotations).toMatchObject({ [OWNED_WORKERS_ANNOTATION]: "a,b" });
  });

  test("bears the control plane's first uid, also when clusterctl has made that anew", () => {
    const controlPlane = controlPlaneOf("one");
    const moved = {
      ...controlPlane,
      metadata: { ...controlPlane.metadata, uid: "new", labels: { [CONTROL_PLANE_ID_LABEL]: "first" } },
    };
    expect(composed({ controlPlane: moved }).metadata.labels).toEqual({ [CONTROL_PLANE_ID_LABEL]: "first" });
  });

  test("bears the control plane's uid where a user has emptied the label of its identity", () => {
    const controlPlane = controlPlaneOf("one");
    const emptied = { ...controlPlane.metadata, uid: "its-own", labels: { [CONTROL_PLANE_ID_LABEL]: "" } };
    const { metadata } = composed({ controlPlane: { ...controlPlane, metadata: emptied } });
    expect(metadata.labels).toEqual({ [CONTROL_PLANE_ID_LABEL]: "its-own" });
  });

  test("names no Seed: a migration would be undone", () => {
    const template = shootTemplate("one");
    const controlPlane = controlPlaneOf("one", { shootTemplate: { spec: { ...template.spec, seedName: "seed-1" } } });
    expect(composed({ controlPlane }).spec).not.toHaveProperty("seedName");
  });

  describe("of which the infrastructure brings the endpoint", () => {
    const infrastructure: ShootCluster = {
      apiVersion: ShootCluster.apiVersion,
      kind: ShootCluster.kind,
      metadata: { namespace: "garden-dev", name: "one" },
      spec: { endpoint: { domain: "one.example.com" } },
    };
    const { dns: _, ...spec } = shootTemplate("one").spec;
    const asking = controlPlaneOf("one", { shootTemplate: { spec }, endpointFrom: "Infrastructure" });

    test("has the infrastructure's domain, and the rest of the template's DNS", () => {
      const dns = { providers: [{ type: "local", secretName: "zone", primary: true }] };
      const controlPlane = { ...asking, spec: { ...asking.spec, shootTemplate: { spec: { ...spec, dns } } } };
      expect(composed({ infrastructure, controlPlane }).spec).toMatchObject({
        dns: { domain: "one.example.com", ...dns },
      });
    });

    test("has the template's domain where it asks for no endpoint of the infrastructure", () => {
      expect(composed({ infrastructure }).spec).toMatchObject({ dns: { domain: "one.dev.perennial.test" } });
    });

    test("is none where the template says another domain, or the infrastructure none", () => {
      const other = controlPlaneOf("one", { endpointFrom: "Infrastructure" });
      expect(reasonOf({ infrastructure, controlPlane: other })).toBe("TemplateInvalid");
      expect(reasonOf({ infrastructure: { ...infrastructure, spec: {} }, controlPlane: asking })).toBe(
        "EndpointMissing",
      );
      expect(reasonOf({ controlPlane: asking })).toBe("EndpointMissing");
    });
  });

  test("acts with the infrastructure's credentials where the template names no binding", () => {
    const infrastructure: ShootCluster = {
      apiVersion: ShootCluster.apiVersion,
      kind: ShootCluster.kind,
      metadata: { namespace: "garden-dev", name: "one" },
      spec: { credentials: { secretRef: { name: "account" }, providerType: "local" } },
    };
    const { credentialsBindingName: _, ...spec } = shootTemplate("one").spec;
    const bare = controlPlaneOf("one", { shootTemplate: { spec } });
    expect(composed({ infrastructure, controlPlane: bare }).spec).toMatchObject({
      credentialsBindingName: "cluster-api-one",
    });
    expect(composed({ infrastructure }).spec).toMatchObject({ credentialsBindingName: "local" });
    const old = controlPlaneOf("one", { shootTemplate: { spec: { ...spec, secretBindingName: "old" } } });
    expect(composed({ infrastructure, controlPlane: old }).spec).not.toHaveProperty("credentialsBindingName");
  });

  test("takes region and Seeds from the infrastructure where the template says none", () => {
    const infrastructure: ShootCluster = {
      apiVersion: ShootCluster.apiVersion,
      kind: ShootCluster.kind,
      metadata: key,
      spec: { region: "elsewhere", zones: ["z1"], seedSelector: { matchLabels: { tier: "gold" } } },
    };
    const { region: _, ...spec } = shootTemplate("one").spec;
    const regionless = controlPlaneOf("one", { shootTemplate: { spec } });
    expect(composed({ infrastructure, controlPlane: regionless }).spec).toMatchObject({
      region: "elsewhere",
      seedSelector: { matchLabels: { tier: "gold" } },
      provider: { workers: [{ name: "a", zones: ["z1"] }] },
    });
    expect(composed({ infrastructure }).spec).toMatchObject({ region: "local" });
  });

  test("that is adopted gets the version and the rows, and no word about anything else", () => {
    const shoot = composed({ controlPlane: adopting, present: presentShoot(["own"], []) });
    expect(Object.keys(shoot.spec)).toEqual(["kubernetes", "provider"]);
    expect(shoot.spec["provider"]).toEqual({ workers: [expect.objectContaining({ name: "a" })] });
  });
});

describe("a Shoot that says what was composed before does not cover what is composed", () => {
  const template = shootTemplate("one");
  const templated = (o: object) => ({ controlPlane: controlPlaneOf("one", { shootTemplate: { ...template, ...o } }) });
  const pooled = (o: Parameters<typeof poolOf>[2]) => ({ pools: [poolOf("one", "a", o)] });

  test.each<[string, Partial<Ingredients>]>([
    ["a pool's own version", pooled({ version: "v1.33.0" })],
    ["a pool's taints", pooled({ spec: { taints: [{ key: "a", effect: "NoSchedule" }] } })],
    ["a hibernation", templated({ spec: { ...template.spec, hibernation: { enabled: true } } })],
    ["a label", templated({ metadata: { labels: { team: "a" } } })],
    ["an annotation", templated({ metadata: { annotations: { note: "a" } } })],
  ])("once a user has removed %s", (_, before) => {
    expect(covers(composed(before), composed(before)), "while nothing is removed").toBe(true);
    expect(covers(composed(before), composed())).toBe(false);
  });

  test("and the hash is the same for the same objects", () => {
    const [one, two] = [composed(), composed()].map(({ metadata }) => metadata.annotations?.[COMPOSED_ANNOTATION]);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(two).toBe(one);
  });
});

test.each([
  "perennial.dev/force-takeover",
  "gardener.cloud/operation",
  "confirmation.gardener.cloud/deletion",
  "trigger.gardener.cloud",
])("a user who writes annotation %s into a template is told to annotate the Shoot itself", (annotation) => {
  const metadata = { annotations: { "example.com/mine": "kept", [annotation]: "true" } };
  const made = compose({
    controlPlane: controlPlaneOf("one", { shootTemplate: { ...shootTemplate("one"), metadata } }),
  });
  expect(made).toMatchObject({ obstacle: { reason: "TemplateInvalid" } });
  expect("obstacle" in made && made.obstacle.message).toMatch(annotation);
});

test("a user who writes a label with our prefix into a template is told to remove it", () => {
  const metadata = { labels: { "example.com/mine": "kept", "perennial.dev/any": "true" } };
  const controlPlane = controlPlaneOf("one", { shootTemplate: { ...shootTemplate("one"), metadata } });
  expect(compose({ controlPlane })).toMatchObject({
    obstacle: { reason: "TemplateInvalid", message: expect.stringContaining("perennial.dev/any") as string },
  });
});

test.each(["example.com/mine", "notgardener.cloud/one", "gardener.cloud.example.com/one"])(
  "a user's own annotation %s in a template becomes the Shoot's",
  (annotation) => {
    const shootTemplateWith = { ...shootTemplate("one"), metadata: { annotations: { [annotation]: "kept" } } };
    const { metadata } = composed({ controlPlane: controlPlaneOf("one", { shootTemplate: shootTemplateWith }) });
    expect(metadata.annotations).toMatchObject({ [annotation]: "kept" });
  },
);

describe("a row", () => {
  const rowsOf = (...pools: Ingredients["pools"]) =>
    (composed({ pools }).spec["provider"] as { workers: object[] }).workers;

  test.each([
    ["its own name", { spec: { name: "mine" } }, "mine"],
    ["a hash where its object's name is too long for a worker", {}, /^pool-[0-9a-f]{10}$/],
  ] as const)("bears %s", (_, o, name) => {
    expect(rowsOf(poolOf("one", "a-name-of-more-than-fifteen", o))).toEqual([
      expect.objectContaining({ name: typeof name === "string" ? name : (expect.stringMatching(name) as unknown) }),
    ]);
  });

  test("has as many machines as an autoscaler may choose, where one decides about the replicas", () => {
    const annotations = { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" };
    const pool = poolOf("one", "a", { replicas: 4, annotations, spec: { minimum: 2, maximum: 9 } });
    expect(rowsOf(pool)).toEqual([expect.objectContaining({ minimum: 2, maximum: 9 })]);
  });

  test("has as many machines as there are replicas, where the word of who decides is false, as core reads it", () => {
    const annotations = { [REPLICAS_MANAGED_BY_ANNOTATION]: "false" };
    const pool = poolOf("one", "a", { replicas: 4, annotations, spec: { minimum: 2, maximum: 9 } });
    expect(rowsOf(pool)).toEqual([expect.objectContaining({ minimum: 4, maximum: 4 })]);
  });

  test.each([{}, { minimum: 2 }, { maximum: 9 }])(
    "has as many machines as the MachinePool has replicas, where an autoscaler decides and a user says bounds %j only",
    (spec) => {
      const annotations = { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" };
      const rows = rowsOf(poolOf("one", "a", { replicas: 4, annotations, spec }));
      expect(rows).toEqual([expect.objectContaining({ minimum: 4, maximum: 4 })]);
    },
  );

  test("says a version only where it is another than the control plane's", () => {
    expect(rowsOf(poolOf("one", "a", { version: "v1.34.4" }))[0]).not.toHaveProperty("kubernetes");
    expect(rowsOf(poolOf("one", "a", { version: "v1.33.0" }))[0]).toMatchObject({ kubernetes: { version: "1.33.0" } });
  });

  test("is in the failure domains of its MachinePool before its own zones", () => {
    expect(rowsOf(poolOf("one", "a", { failureDomains: ["x"], spec: { zones: ["y"] } }))[0]).toMatchObject({
      zones: ["x"],
    });
    expect(rowsOf(poolOf("one", "a", { spec: { zones: ["y"] } }))[0]).toMatchObject({ zones: ["y"] });
  });

  test("is of the older of two pools with its name", () => {
    const young = poolOf("one", "young", { createdAt: "2026-02-02T00:00:00Z", replicas: 2, spec: { name: "same" } });
    const old = poolOf("one", "old", { createdAt: "2026-01-01T00:00:00Z", replicas: 1, spec: { name: "same" } });
    expect(rowsOf(young, old)).toEqual([expect.objectContaining({ name: "same", minimum: 1 })]);
  });
});

describe("no Shoot is composed", () => {
  const deleted = (pool: ReturnType<typeof poolOf>) => ({
    ...pool,
    infrastructure: {
      ...pool.infrastructure,
      metadata: { ...pool.infrastructure.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
    },
  });
  const template = shootTemplate("one");

  test.each<[string, Partial<Ingredients>, string | undefined]>([
    ["before the first pool", { pools: [] }, "WaitingForMachinePool"],
    [
      "without the last pool",
      { pools: [deleted(poolOf("one", "a"))], leaving: ["a"], present: presentShoot(["a"], ["a"]) },
      "LastMachinePool",
    ],
    [
      "without the row of a pool that is just not there",
      { present: presentShoot(["a", "b"], ["a", "b"]) },
      "PoolMissing",
    ],
    [
      "without a row of which clusterctl has taken the pool away",
      { pools: [deleted(poolOf("one", "a"))], present: presentShoot(["a"], ["a"]) },
      "PoolMissing",
    ],
    ["without machines that has a pool", { controlPlane: controlPlaneOf("one", { workerless: true }) }, "Workerless"],
    [
      "without a version",
      { controlPlane: controlPlaneOf("one", { shootTemplate: template, version: undefined as never }) },
      "VersionMissing",
    ],
    [
      "of a template that says a version",
      {
        controlPlane: controlPlaneOf("one", {
          shootTemplate: { spec: { ...template.spec, kubernetes: { version: "1.34.4" } as object } },
        }),
      },
      "TemplateInvalid",
    ],
    [
      "of a template that says workers",
      {
        controlPlane: controlPlaneOf("one", {
          shootTemplate: { spec: { ...template.spec, provider: { type: "local", workers: [] } as { type: string } } },
        }),
      },
      "TemplateInvalid",
    ],
  ])("%s", (_, o, reason) => {
    expect(reasonOf(o)).toBe(reason);
  });

  test("but one without machines is, and an adopted one keeps rows of its own when the last pool goes", () => {
    expect(reasonOf({ pools: [], controlPlane: controlPlaneOf("one", { workerless: true }) })).toBeUndefined();
    const present = presentShoot(["own", "a"], ["a"]);
    expect(reasonOf({ pools: [], leaving: ["a"], controlPlane: adopting, present })).toBeUndefined();
  });

  test("but the row of a pool that is being deleted goes, and one that a user took from the Shoot is not missed", () => {
    expect(rowNames({ leaving: ["b"], present: presentShoot(["a", "b"], ["a", "b"]) })).toEqual(["a"]);
    expect(rowNames({ present: presentShoot(["a"], ["a", "b"]) })).toEqual(["a"]);
  });

  const rowNames = (o: Partial<Ingredients>) =>
    (composed(o).spec["provider"] as { workers: { name: string }[] }).workers.map(({ name }) => name);
});
