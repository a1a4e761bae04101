import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import type { FlowProgress } from "../../../src/api/shoot/run.ts";
import type { Context } from "../../../src/cli/context.ts";
import { describe } from "../../../src/cli/extension/describe.ts";
import { install } from "../../../src/cli/extension/install.ts";
import { list } from "../../../src/cli/extension/list.ts";
import { retry } from "../../../src/cli/extension/retry.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { fakeTerminal } from "./fake-terminal.ts";

const options = { output: undefined, kubeconfig: undefined, temporal: undefined, temporalNamespace: undefined };
const at = "2026-11-21T10:00:00Z";

const condition = (type: string, status: string, message = "so it is") => ({
  ...{ type, status, reason: "Said", message, lastTransitionTime: at, lastUpdateTime: at },
});

const registration = (name: string, createdAt: string, deployment?: object) => ({
  kind: "ControllerRegistration",
  metadata: { name, creationTimestamp: createdAt },
  spec: { resources: [{ kind: "Network", type: "calico" }], ...(deployment && { deployment }) },
});

const objects = [
  registration("calico", at, { type: "helm" }),
  registration("calico-fork", "2026-11-21T10:00:01Z", { deploymentRefs: [{ name: "fork" }] }),
  {
    kind: "ControllerInstallation",
    metadata: { name: "calico-1", uid: "u" },
    spec: { registrationRef: { name: "calico" }, seedRef: { name: "seed-1" } },
    status: {
      conditions: ["Valid", "Installed", "Healthy"]
        .map((type) => condition(type, "True"))
        .concat(condition("Progressing", "False")),
    },
  },
  {
    kind: "ControllerInstallation",
    metadata: { name: "calico-2", uid: "u2" },
    spec: { registrationRef: { name: "calico" }, seedRef: { name: "seed-2" } },
    status: { conditions: [condition("Valid", "False", "the chart has hooks")] },
  },
  {
    kind: "Shoot",
    metadata: { name: "one", namespace: "garden-dev" },
    spec: {
      seedName: "seed-1",
      provider: { type: "local", workers: [{ machine: {} }] },
      networking: { type: "calico" },
    },
  },
] as unknown as readonly KubeObject[];

function contextOf(found = objects, flows: Readonly<Record<string, FlowProgress>> = {}) {
  const terminal = fakeTerminal();
  const client = {
    list: async ({ kind }: { kind: string }) => found.filter((one) => one.kind === kind),
    read: async ({ kind }: { kind: string }, { name }: { name: string }) =>
      found.find((one) => one.kind === kind && one.metadata.name === name),
  } as unknown as KubeClient;
  const context: Context = {
    ...{ terminal, variables: {}, signal: new AbortController().signal, now: () => Date.parse("2026-11-21T10:01:00Z") },
    garden: async () => ({ client, namespace: undefined }),
    seed: async () => undefined,
    processes: async () => [],
    flows: () => Promise.reject(new Error("no verb here asks for Shoots' flows")),
    management: () => Promise.reject(new Error("no verb here asks for a management cluster")),
    leaders: () => Promise.reject(new Error("no verb here asks who leads")),
    gardenRegister: () => Promise.reject(new Error("no verb here asks for a register")),
    installations: async () => ({
      ...{ nudge: async () => {}, retry: async () => ["chart"] },
      progress: async ({ name, uid }) => flows[`${name}/${uid}`],
    }),
  };
  return { context, terminal };
}

/** The flows of installations, as `name/uid`: that of calico-2 is parked. */
const parked: Readonly<Record<string, FlowProgress>> = {
  "calico-2/u2": {
    ...{ title: "Install extension", operation: "Create", percent: 17, startedAt: at },
    steps: [
      { name: "namespace", state: "done" },
      { name: "chart", state: "parked", since: at, error: { message: "the chart has hooks", codes: [] }, attempt: 3 },
      { name: "installed", state: "pending" },
    ],
  },
};

test("an installation from a file that is not there is a mistake of the command line", async () => {
  const { context } = contextOf();
  await expect(install.run({ args: { file: "nofile.yaml" }, options, context })).rejects.toMatchObject({
    exit: "usage",
    message: "cannot install nofile.yaml: there is no such file or folder",
  });
});

test("the list says where extensions are installed, how many Shoots need them, and what is wrong", async () => {
  const { context, terminal } = contextOf();
  await list.run({ args: {}, options, context });
  const lines = terminal.out.text().split("\n");
  expect(lines[0]).toMatch(/^NAME +READY +SEEDS +SHOOTS +PROBLEM/);
  expect(lines[1]).toMatch(/^calico +1\/2 +seed-1, seed-2 +1 +seed-2: not Valid: the chart has hooks/);
  expect(lines[2]).toMatch(/^calico-fork +0\/0 .*calico is primary for Network calico/);
});

test("a description names each Seed, since when something is wrong, and the Shoots that need the extension", async () => {
  const { context, terminal } = contextOf();
  await describe.run({ args: { extension: "calico" }, options, context });
  expect(terminal.out.text()).toContain("on seed-1 (calico-1): ready");
  expect(terminal.out.text()).toMatch(/on seed-2 \(calico-2\): not Valid: the chart has hooks, for 60s \(since/);
  expect(terminal.out.text()).toContain("garden-dev/one");
  await expect(describe.run({ args: { extension: "none" }, options, context })).rejects.toThrow(
    "there is no ControllerRegistration none",
  );
});

test("a description names the step that an installation waits for, its error, and the command that retries it", async () => {
  const { context, terminal } = contextOf(objects, parked);
  await describe.run({ args: { extension: "calico" }, options, context });
  expect(terminal.out.text().split("\n").slice(-8)).toEqual([
    "",
    `Installation calico-2 on seed-2 waits for step chart: parked for 60s (since ${at})`,
    "  Owner:    Perennial's worker for seed seed-2",
    "  Attempt:  3",
    "  Error:    the chart has hooks",
    "  Remedy:   mend the cause, then: perennial extension retry calico-2 --step chart",
    "  Steps:    perennial flow show installation/calico-2",
    "",
  ]);
});

test("a description names the step of an upgrade that waits, though the controller of before is ready", async () => {
  const upgraded = objects.map((one) => {
    if (one.metadata.name !== "calico-1") return one;
    const { conditions } = one["status"] as { conditions: unknown };
    return { ...one, status: { conditions, providerStatus: { kind: "HelmInstallation", hash: "of-before" } } };
  });
  const steps = [{ name: "chart", state: "retrying" as const, error: { message: "no answer", codes: [] } }];
  const upgrade = { title: "Install extension", operation: "Reconcile" as const, percent: 50, startedAt: at, steps };
  const flows = { "calico-1/u": upgrade };
  const { context, terminal } = contextOf(upgraded, flows);
  await describe.run({ args: { extension: "calico" }, options, context });
  const said = terminal.out.text();
  expect(said).toContain("on seed-1 (calico-1): ready; what is asked for by now is not installed yet");
  expect(said).toContain("Installation calico-1 on seed-1 waits for step chart: retrying");
  expect(said).toContain("or at once: perennial extension retry calico-1 --step chart");
});

test("a description without Temporal says what the garden says, and that Temporal does not answer", async () => {
  const { context, terminal } = contextOf();
  const silent = { ...context, installations: () => Promise.reject(new Error("cannot reach Temporal at x:7233")) };
  await describe.run({ args: { extension: "calico" }, options, context: silent });
  expect(terminal.out.text()).toContain("on seed-2 (calico-2): not Valid: the chart has hooks");
  expect(terminal.out.text()).toContain("\n\nWhat the flows do is not known: cannot reach Temporal at x:7233\n");
});

test("a description of what is ready everywhere asks no flow", async () => {
  const { context, terminal } = contextOf(objects.filter(({ metadata }) => metadata.name !== "calico-2"));
  const silent = { ...context, installations: () => Promise.reject(new Error("cannot reach Temporal at x:7233")) };
  await describe.run({ args: { extension: "calico" }, options, context: silent });
  expect(terminal.out.text()).not.toContain("Temporal");
});

test("a description says of a registration that is to go which objects hold it, and what the operator does", async () => {
  const [calico, ...others] = objects;
  const required = condition("Required", "True", "The seed has objects …, such as BackupBucket local: bucket-1.");
  const { context, terminal } = contextOf([
    {
      ...calico,
      metadata: { name: "calico", creationTimestamp: at, deletionTimestamp: at },
      spec: { resources: [{ kind: "BackupBucket", type: "local" }], deployment: { type: "helm" } },
    },
    ...others.map((one) => (one.metadata.name === "calico-1" ? { ...one, status: { conditions: [required] } } : one)),
    ...["seed-1", "seed-2"].map((seedName) => ({
      ...{ kind: "BackupBucket", metadata: { name: `bucket-of-${seedName}` } },
      spec: { seedName, provider: { type: "local", region: "local" } },
    })),
    {
      ...{ kind: "BackupEntry", metadata: { namespace: "garden-dev", name: "shoot--dev--gone--uid" } },
      spec: { bucketName: "bucket-of-seed-1", seedName: "seed-1" },
    },
  ] as unknown as readonly KubeObject[]);
  await describe.run({ args: { extension: "calico" }, options, context });
  const said = terminal.out.text().replaceAll(/\s+/g, " ");
  expect(said).toContain("stays on seed-1: The seed has objects …, such as BackupBucket local: bucket-1.");
  expect(said).toContain("BackupEntry garden-dev/shoot--dev--gone--uid goes with its Shoot");
  expect(said).toContain("BackupBucket bucket-of-seed-1 goes when you delete Seed seed-1");
  expect(said).toContain("being removed from seed-2");
  expect(said).not.toContain("bucket-of-seed-2");
});

test("a description names the Shoots for which a registration that is to go stays, before the seed has objects of theirs", async () => {
  const [, , first, second] = objects;
  const shootOn = (name: string, seedName: string, type: string, status = {}) => ({
    ...{ kind: "Shoot", metadata: { name, namespace: "garden-dev" }, status },
    spec: { seedName, provider: { type: "local" }, extensions: [{ type }] },
  });
  const { context, terminal } = contextOf([
    {
      kind: "ControllerRegistration",
      metadata: { name: "calico", creationTimestamp: at, deletionTimestamp: at },
      spec: {
        resources: ["audit", "for-all"].map((type) => ({
          ...{ kind: "Extension", type, primary: false, workerlessSupported: true },
          ...(type === "for-all" && { autoEnable: ["shoot"] }),
        })),
      },
    },
    ...[first, second],
    shootOn("names-it", "seed-1", "audit"),
    shootOn("leaves-it", "seed-2", "audit", { seedName: "seed-1" }),
    shootOn("has-it-unasked", "seed-1", "other"),
  ] as unknown as readonly KubeObject[]);
  await describe.run({ args: { extension: "calico" }, options, context });
  const said = terminal.out.text().replaceAll(/\s+/g, " ");
  expect(said).toContain("stays on seed-1: 2 Shoots need it: garden-dev/names-it, garden-dev/leaves-it.");
  expect(said).toContain("stays on seed-2: 1 Shoot needs it: garden-dev/leaves-it.");
  expect(said).toContain("What belongs to Shoots goes when you delete or move them.");
});

/** An installation of calico on which there is no report, its registration's deployment, and the age of the seed's heartbeat. */
const unreported = (deployment: object | undefined, heartbeat: string) =>
  [
    registration("calico", at, deployment),
    { kind: "ControllerDeployment", metadata: { name: "manifests" }, type: "manifests", providerConfig: {} },
    {
      ...{ kind: "ControllerInstallation", metadata: { name: "calico-1", uid: "u", creationTimestamp: at } },
      spec: {
        ...{ registrationRef: { name: "calico" }, seedRef: { name: "seed-1" } },
        ...(deployment && "deploymentRefs" in deployment ? { deploymentRef: { name: "manifests" } } : {}),
      },
    },
    {
      ...{ kind: "Seed", metadata: { name: "seed-1" }, spec: { provider: {}, networks: {} } },
      status: { conditions: [{ ...condition("GardenletReady", "True"), lastUpdateTime: heartbeat }] },
    },
  ] as unknown as readonly KubeObject[];

test.each([
  [
    "Perennial installs",
    { type: "helm" },
    "2026-11-21T09:58:00Z",
    "Seed seed-1 does not answer: its worker was last heard of 180 s ago",
  ],
  [
    "Perennial installs",
    { type: "helm" },
    "2026-11-21T10:00:50Z",
    "Seed seed-1 has not reported on it yet: its worker was last heard of 10 s ago",
  ],
  ["an operator installs", { type: "manifests" }, at, "no operator for type manifests has reported on it"],
  [
    "an operator installs by reference",
    { deploymentRefs: [{ name: "manifests" }] },
    at,
    "no operator for type manifests has reported on it",
  ],
])(
  "of an installation that %s and that has no report, the CLI names who is silent and since when",
  async (_, deployment, heartbeat, reason) => {
    const { context, terminal } = contextOf(unreported(deployment, heartbeat));
    await describe.run({ args: { extension: "calico" }, options, context });
    expect(terminal.out.text().replaceAll(/\s+/g, " ")).toContain(
      `on seed-1 (calico-1): ${reason}, for 60s (since ${at})`,
    );
  },
);

test("an installation that others make is no problem as long as they say nothing of it", async () => {
  const { context, terminal } = contextOf(unreported(undefined, at));
  await list.run({ args: {}, options, context });
  expect(terminal.out.text().split("\n")[1]).toMatch(/^calico +1\/1 +seed-1 +0 +<none>$/);
  await describe.run({ args: { extension: "calico" }, options, context });
  expect(terminal.out.text()).toContain("on seed-1 (calico-1): installed by others, who have not said how it is");
});

test("a retry says which steps go on, and refuses an installation that is not there", async () => {
  const { context, terminal } = contextOf();
  await retry.run({ args: { installation: "calico-2" }, options: { ...options, step: undefined }, context });
  expect(terminal.out.text()).toBe("retrying chart of ControllerInstallation calico-2\n");
  await expect(
    retry.run({ args: { installation: "none" }, options: { ...options, step: undefined }, context }),
  ).rejects.toThrow("there is no ControllerInstallation none");
});
