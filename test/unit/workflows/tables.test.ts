import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import type { ShootRun } from "../../../src/api/shoot/run.ts";
import type { Step } from "../../../src/flow/flow.ts";
import { planFlow } from "../../../src/flow/plan.ts";
import { appliedKinds, contractOf } from "../../../src/api/extensions/kinds.ts";
import { components } from "../../../src/components/index.ts";
import { cleanUp } from "../../../src/workflows/clean-up.ts";
import { deleteShoot } from "../../../src/workflows/delete.ts";
import { forceDelete } from "../../../src/workflows/force-delete.ts";
import { migrate } from "../../../src/workflows/migrate.ts";
import { reconcile } from "../../../src/workflows/reconcile.ts";
import { restore } from "../../../src/workflows/restore.ts";
import type { Action, ShootFlow } from "../../../src/workflows/actions.ts";
import { before, extended, plan, repairing } from "../../support/flow-tables.ts";
import { shootRun } from "../../support/shoot-run.ts";

type Row = readonly [name: string, step: Step<ShootRun, Action> | undefined];

/** What a row says, with `apply` for `restore`, which does the same for objects that have a past. */
const contentOf = ([, step]: Row) => {
  const { do: action, after = [], when = [] } = step ?? {};
  return { does: action?.verb === "restore" ? { ...action, verb: "apply" } : action, after, when };
};

/** How the rows of `two` differ from the rows of the same name in `one`: what it says, what `one` said, and what it does not ask for. */
function differences(one: ShootFlow, two: ShootFlow) {
  const shared = [...one.steps].filter(
    ([name, { do: action }]) => action.verb !== "survey" && !repairing.includes(name),
  );
  const rows = shared.flatMap((row) => {
    const [before, after] = [contentOf(row), contentOf([row[0], two.steps.get(row[0])])];
    if (isDeepStrictEqual(before, after)) return [];
    const unless = before.when.filter((condition) => !after.when.includes(condition));
    const when = before.when.filter((condition) => !unless.includes(condition));
    expect(after, row[0]).toMatchObject({ does: before.does, when });
    return [
      [
        row[0],
        {
          before: before.after,
          after: after.after,
          ...(unless.length > 0 && { unless: unless.map(({ text }) => text) }),
        },
      ],
    ];
  });
  return Object.fromEntries(rows) as Record<string, object>;
}

/** The objects that a flow's rows of a verb are about, such as `DNSRecord internal`. */
const objectsOf = (flow: ShootFlow, verb: Action["verb"]): string[] =>
  [...flow.steps.values()].flatMap(({ do: action }) =>
    "kind" in action && action.verb === verb ? [[action.kind, action.purpose].filter(Boolean).join(" ")] : [],
  );

it.each([deleteShoot, forceDelete])(
  "$title takes Bastions away, and waits for their end before the namespace goes",
  (flow) => {
    expect([...before(flow, "removeNamespace")]).toContain("removeBastions");
    expect([...before(flow, "removeBastions")]).toContain("leadership");
  },
);

it("a deletion takes Bastions away before the infrastructure that they stand on, with credentials to do it", () => {
  expect([...before(deleteShoot, "removeInfrastructure")]).toContain("removeBastions");
  expect([...before(deleteShoot, "removeBastions")]).toContain("cloudProviderSecret");
});

describe("the flows", () => {
  it("apply every kind that is theirs, for each of its purposes", () => {
    const expected = appliedKinds.flatMap((kind) => {
      const { purposes } = contractOf(kind);
      return purposes === undefined ? [kind] : purposes.map((purpose) => `${kind} ${purpose}`);
    });
    expect([...new Set(objectsOf(reconcile, "apply"))].sort()).toEqual(expected.sort());
  });
  it("restore, migrate and remove whatever reconcile applies, but for the BackupEntry, which outlives both", () => {
    const applied = [...new Set(objectsOf(reconcile, "apply"))];
    // Upstream has Extensions migrate and end before the API server or after it, and none of them after the Worker.
    const ended = applied.filter((object) => !["BackupEntry", "Extension AfterWorker"].includes(object)).sort();
    expect([...new Set(objectsOf(restore, "restore"))].sort()).toEqual(applied.sort());
    expect(objectsOf(migrate, "migrate").sort()).toEqual(ended);
    expect(objectsOf(deleteShoot, "remove").sort()).toEqual(ended);
  });
  it("deploy every component that there is, and take the namespace away after all that is removed or destroyed", () => {
    const deployed = [...reconcile.steps.values()].flatMap(({ do: action }) =>
      "component" in action && action.verb === "deploy" ? [action.component] : [],
    );
    expect(deployed.sort()).toEqual(Object.keys(components).sort());
    const gone = [...deleteShoot.steps].flatMap(([name, { do: action }]) =>
      action.verb === "destroy" || action.verb === "remove" ? [name] : [],
    );
    expect([...before(deleteShoot, "removeNamespace")]).toEqual(expect.arrayContaining(gone));
  });
  it("let the Infrastructure go only after every kind that was built on it", () => {
    for (const [flow, verb] of [
      [migrate, "migrate"],
      [deleteShoot, "remove"],
    ] as const) {
      const built = [...flow.steps].flatMap(([name, { do: action }]) =>
        "kind" in action && action.verb === verb && !["Infrastructure", "DNSRecord"].includes(action.kind)
          ? [name]
          : [],
      );
      const first = [...before(flow, `${verb}Infrastructure`)];
      const later = /OperatingSystemConfig$|ExtensionsAfterApiServer$/;
      expect(first).toEqual(expect.arrayContaining(built.filter((step) => !later.test(step))));
    }
  });
  it("destroy every component that reconcile deploys into the seed, but for those that go with the namespace", () => {
    const componentsOf = (flow: ShootFlow, verb: Action["verb"]) =>
      [...flow.steps.values()].flatMap(({ do: action }) =>
        "component" in action && action.verb === verb ? [action.component] : [],
      );
    const inSeed = componentsOf(reconcile, "deploy").filter((name) => components[name].target === "seed");
    const withNamespace = ["namespace", "network-policies", "etcd-backup"];
    expect([...componentsOf(deleteShoot, "destroy"), ...withNamespace].sort()).toEqual(inSeed.sort());
    expect(componentsOf(restore, "deploy").sort()).toEqual(componentsOf(reconcile, "deploy").sort());
  });
  it.each([reconcile, restore, migrate, deleteShoot, forceDelete, cleanUp])(
    "name a step of $title after the activity that it calls",
    (flow) => {
      const stem = (step: string) => step.replace(/^(destination|access|final)/, "").toLowerCase();
      for (const [name, { do: action }] of flow.steps)
        if (action.verb === "call") expect(action.activity.toLowerCase(), name).toContain(stem(name));
    },
  );
});

/** How a Shoot falls asleep that has everything. */
const fallingAsleep = [
  ...["stopMachineControllerManager", "stopControllerManager", "stopScheduler", "stopResourceManager"],
  ...["stopApiServer", "stopEtcd"],
];
/** What a Shoot that is awake and has everything does not do. */
const nothingToTakeAway = [
  ...["staleResourceManagerWebhooks", "staleTunnelAgent", "stopClusterAutoscaler", "routes", "unusedResourceManager"],
  ...fallingAsleep.toSpliced(4, 0, "stopStaleResourceManager"),
  "extensionsAsleep",
];

describe("the rows of the resource manager", () => {
  const rows = [
    ...["resourceManagerWebhooks", "resourceManager", "managedResources"],
    ...["removeManagedResources", "destroyResourceManager"],
  ];
  it("do nothing where neither the Shoot nor its Seed asks for one", () => {
    for (const flow of [reconcile, restore, deleteShoot, forceDelete]) {
      const names = [...flow.steps.keys()].filter((name) => rows.includes(name));
      expect(names.length, flow.title).toBeGreaterThan(0);
      const steps = planFlow(flow, shootRun({ namespaceUsable: true, cleanable: true }));
      expect(
        steps.filter(({ step, skipped }) => names.includes(step) && !skipped),
        flow.title,
      ).toEqual([]);
    }
  });
  it("take away what extensions have left in the Shoot while there is an API server to do it through", () => {
    expect([...before(deleteShoot, "destroyKubeApiServer")]).toEqual(
      expect.arrayContaining(["removeManagedResources", "destroyResourceManager"]),
    );
    expect([...before(deleteShoot, "removeManagedResources")]).toEqual(
      expect.arrayContaining(["removeControlPlane", "removeNetwork", "removeWorker", "resourceManager"]),
    );
  });
  it("register its webhooks before it runs, so that no pod that it applies escapes them", () => {
    for (const flow of [reconcile, restore])
      expect([...before(flow, "resourceManager")], flow.title).toContain("resourceManagerWebhooks");
  });
  it("take its webhooks away where nothing asks for it any more, also as the Shoot wakes up", () => {
    for (const flow of [reconcile, restore]) {
      const webhooks = (change: Partial<ShootRun>) =>
        planFlow(flow, shootRun(change)).flatMap((one) => (/Webhooks$/.test(one.step) && !one.skipped ? one.step : []));
      expect(webhooks({}), flow.title).toEqual(["staleResourceManagerWebhooks"]);
      expect(webhooks({ managesResources: true }), flow.title).toEqual(["resourceManagerWebhooks"]);
      for (const none of [{ hibernated: true }, { workerless: true, managesResources: true } as const])
        expect(webhooks(none), flow.title).toEqual([]);
    }
  });
  it("stop it before the API server when the Shoot falls asleep, also where none is known of", () => {
    const stops = ["stopResourceManager", "stopStaleResourceManager"];
    for (const flow of [reconcile, restore]) {
      expect([...before(flow, "stopApiServer")], flow.title).toEqual(expect.arrayContaining(stops));
      for (const known of [
        {},
        { managesResources: true },
        { managesResources: true, resourceManagerUnasked: true },
      ] as const) {
        const run = shootRun({ hibernated: true, fallsAsleep: true, ...known });
        const done = planFlow(flow, run).filter(({ step, skipped }) => stops.includes(step) && !skipped);
        expect(done, flow.title).toHaveLength(1);
      }
    }
  });
  it("take it away where nothing asks for it, after all that may have it take away something, and while the Shoot is awake", () => {
    for (const flow of [reconcile, restore]) {
      expect([...before(flow, "unusedResourceManager")], flow.title).toEqual(
        expect.arrayContaining(["resourceManager", "managedResources", "staleExtensions", "worker", "network"]),
      );
      const takesAway = (change: Partial<ShootRun>) =>
        planFlow(flow, shootRun(change)).some(({ step, skipped }) => step === "unusedResourceManager" && !skipped);
      expect(takesAway({ managesResources: true, resourceManagerUnasked: true }), flow.title).toBe(true);
      for (const stays of [{}, { managesResources: true }, { resourceManagerUnasked: true, hibernated: true }] as const)
        expect(takesAway(stays), flow.title).toBe(false);
    }
  });
});

describe("the table of a deletion by force", () => {
  it("removes every kind that a deletion removes, each as soon as extensions know of the force", () => {
    expect(objectsOf(forceDelete, "remove").sort()).toEqual(objectsOf(deleteShoot, "remove").sort());
    for (const [name, { do: action, after }] of forceDelete.steps)
      if (action.verb === "remove") expect(after, name).toEqual(["cluster"]);
  });
  it("does nothing that a deletion does not do, and needs no control plane for it", () => {
    for (const [name, { do: action }] of forceDelete.steps) {
      expect(action, name).toEqual(deleteShoot.steps.get(name)?.do);
      expect(["deploy", "apply"], name).not.toContain(action.verb);
    }
    const { done } = plan(forceDelete, { namespaceUsable: true, cleanable: true, controlPlaneNeeded: true });
    expect(done.filter((step) => /^clean/.test(step))).toEqual([]);
  });
  it("begins with who may act, and takes the namespace away only after what extensions hold", () => {
    for (const step of forceDelete.steps.keys())
      if (step !== "leadership") expect(before(forceDelete, step), step).toContain("leadership");
    const removing = [...forceDelete.steps].flatMap(([name, { do: action }]) => (action.verb === "remove" ? name : []));
    expect([...before(forceDelete, "removeNamespace")]).toEqual(expect.arrayContaining(removing));
  });
});

describe("the reconcile table", () => {
  it("skips nothing for a Shoot that has everything, but for what puts it to sleep", () => {
    const { skipped } = plan(reconcile, { ...extended, leadershipRecord: "local.dev.example.com", periodic: true });
    expect(skipped).toEqual(nothingToTakeAway);
  });
  it("looks, before it does anything in the seed, what there is to do where the operation is periodic", () => {
    expect(plan(reconcile).skipped).toContain("survey");
    const inSeed = [...reconcile.steps].flatMap(
      ([
        name,
        {
          do: { where },
        },
      ]) => (where === "seed" ? [name] : []),
    );
    for (const step of inSeed.filter((one) => one !== "survey")) expect(before(reconcile, step)).toContain("survey");
  });
  it("puts a Shoot to sleep once, and only after its machines have gone", () => {
    expect(plan(reconcile, { hibernated: true, fallsAsleep: true }).done).toEqual(
      expect.arrayContaining(fallingAsleep),
    );
    expect(plan(reconcile, { hibernated: true }).skipped).toEqual(expect.arrayContaining(fallingAsleep));
    for (const step of fallingAsleep)
      expect([...before(reconcile, step)], step).toEqual(expect.arrayContaining(["worker", "controlPlane"]));
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
    ["infrastructure", ["cluster", "cloudProviderSecret"]],
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
});

const migration = { source: "seed-1", destination: "seed-2", takeover: false };
describe("the delete table and who leads", () => {
  it("asks before anything is done, and leaves the record to the end of the Shoot", () => {
    const others = [...deleteShoot.steps.keys()].filter((step) => step !== "leadership");
    for (const step of others) expect(before(deleteShoot, step), step).toContain("leadership");
    expect(others.join()).not.toMatch(/leadership/i);
  });
});

describe("the migrate table", () => {
  it("keeps the state only after every kind has migrated, and flips last of all", () => {
    const migrating = [...migrate.steps].flatMap(([name, { do: action }]) => (action.verb === "migrate" ? [name] : []));
    expect(migrating).toHaveLength(objectsOf(deleteShoot, "remove").length);
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
    expect(done).toEqual([
      "check",
      "destinationNamespace",
      "shareState",
      "destinationSecrets",
      "destinationImages",
      "flip",
    ]);
  });
});

/** The steps that a Restore has besides those of a Reconcile: what brings the Shoot over from another Seed. */
const moving = [
  ...["leases", "fence", "keptSecrets", "listSnapshots", "newestSnapshot", "prepareEtcd", "oldApiServer"],
  ...["finalSnapshot", "finalShareState", "oldEtcd", "copiedBackups", "etcdVolume"],
];

describe("the restore table", () => {
  it("differs from reconcile in these rows and no others, in what is done, in which seed, after what and when", () => {
    expect(differences(reconcile, restore)).toEqual({
      shareState: { after: ["leadership", "leases"], before: ["leadership"] },
      namespace: { after: ["leadership", "requiredExtensions"], before: ["survey"] },
      secrets: { after: ["keptSecrets"], before: ["namespace"] },
      infrastructure: {
        after: [
          ...["leases", "leader", "cluster", "secrets", "cloudProviderSecret", "referencedResources"],
          "releaseManagedResources",
        ],
        before: [
          ...["leader", "cluster", "cloudProviderSecret", "secrets", "referencedResources"],
          "releaseManagedResources",
        ],
      },
      releaseManagedResources: { after: ["leases", "leader"], before: ["leader"] },
      backupEntry: { after: ["leases", "leader", "cluster"], before: ["leader", "cluster"] },
      etcd: { after: ["etcdVolume", "oldEtcd", "secrets"], before: ["secrets", "etcdData"] },
      internalDns: {
        ...{ after: ["oldApiServer", "cluster", "apiServerService"], before: ["cluster", "apiServerService"] },
        unless: ["the Shoot is awake"],
      },
      externalDns: {
        ...{ after: ["oldApiServer", "cluster", "apiServerService"], before: ["cluster", "apiServerService"] },
        unless: ["the Shoot is awake"],
      },
    });
    const own = [...restore.steps.keys()].filter((step) => !reconcile.steps.has(step));
    expect(own).toEqual([...moving.filter((step) => !repairing.includes(step)), "forgetMachineState"]);
  });
  it.each([
    ["oldApiServer", ["leases", "fence", "infrastructure", "backupEntry", "accessSecrets", "prepareEtcd"]],
    ["prepareEtcd", ["leases", "secrets"]],
    ["finalSnapshot", ["oldApiServer"]],
    ["oldEtcd", ["finalSnapshot"]],
    ["listSnapshots", ["leases", "backupEntry", "shareState"]],
    ["copiedBackups", ["newestSnapshot", "listSnapshots"]],
    ["etcdVolume", ["copiedBackups", "finalSnapshot", "leases"]],
    ["etcd", ["etcdVolume", "oldEtcd", "oldApiServer"]],
    ["internalDns", ["oldApiServer"]],
    ["externalDns", ["oldApiServer"]],
    ["worker", ["leases", "infrastructure", "kubeApiServer", "controlPlane"]],
  ])("does %s only after %j", (step, first) => {
    expect([...before(restore, step)]).toEqual(expect.arrayContaining(first));
  });
  it("brings back every object that a hibernated Shoot had: its DNS names have to be there to be deleted", () => {
    const sleeper = { ...extended, hibernated: true, migration };
    const restored = plan(restore, sleeper).done.flatMap((step) => {
      const { do: action } = restore.steps.get(step) ?? {};
      return action && "kind" in action ? [[action.kind, action.purpose].filter(Boolean).join(" ")] : [];
    });
    expect(restored).toEqual(expect.arrayContaining(objectsOf(migrate, "migrate")));
  });
  it("takes the state from the old seed only when the leases there are over: until then it is still kept", () => {
    expect(before(restore, "shareState")).toContain("leases");
    expect(before(restore, "keptSecrets")).toContain("shareState");
    for (const step of ["copiedBackups", "etcdVolume"] as const)
      expect(before(restore, step)).toContain("finalShareState");
  });

  it("leaves a Shoot without an API server for a last snapshot, its way over and the start of etcd, and for nothing else", () => {
    const awaited = before(restore, "kubeApiServer");
    const away = [...awaited].filter((step) => before(restore, step).has("oldApiServer"));
    expect(away.toSorted()).toEqual(
      ["copiedBackups", "etcd", "etcdVolume", "finalShareState", "finalSnapshot", "oldEtcd"].toSorted(),
    );
    expect([...before(restore, "oldApiServer")]).toEqual(
      expect.arrayContaining(["prepareEtcd", "infrastructure", "accessSecrets"]),
    );
  });

  it("counts the leases of the old seed from when all servers name the new leader", () => {
    expect(before(restore, "leases")).toContain("leadership");
  });

  it("lets no extension act before the leases of the old seed are over", () => {
    const acting = [...restore.steps].flatMap(([name, { do: action }]) => (action.verb === "restore" ? [name] : []));
    for (const step of acting) expect(before(restore, step), step).toContain("leases");
    expect(before(restore, "releaseManagedResources")).toContain("leases");
  });

  it.each([
    ["reconcile", reconcile],
    ["restore", restore],
  ])("%s has resource managers act again before an extension waits for them", (_, flow) => {
    for (const step of ["infrastructure", "extensionsBeforeApiServer", "controlPlane", "network"] as const)
      expect(before(flow, step), step).toContain("releaseManagedResources");
  });
  it("moves nothing when a migration was given up", () => {
    const leadershipRecord = "local.dev.example.com";
    const { skipped } = plan(restore, {
      ...extended,
      leadershipRecord,
      migration: { ...migration, destination: "seed-1", returning: true },
    });
    expect(skipped.sort()).toEqual([...moving, ...nothingToTakeAway].sort());
  });
  it("looks for a newer snapshot than the recorded one only in a takeover, where there are backups", () => {
    const looks = (change: Partial<ShootRun>) => plan(restore, change).done.filter((step) => /Snapshots?$/.test(step));
    const takeover = { migration: { ...migration, takeover: true } };
    expect(looks({ ...takeover, hasBackup: true })).toEqual(["listSnapshots", "newestSnapshot"]);
    expect(looks({ ...takeover, hasBackup: false })).toEqual([]);
    expect(looks({ migration, hasBackup: true })).toEqual(["finalSnapshot"]);
  });
  it("asks nothing of the source when it was taken over from, but waits for its leases", () => {
    const { skipped } = plan(restore, { ...extended, migration: { ...migration, takeover: true } });
    expect(skipped).toEqual([
      ...["leadership", "fence", "oldApiServer", "finalSnapshot", "finalShareState", "oldEtcd"],
      ...nothingToTakeAway,
    ]);
  });
});
