import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { appliedKinds, extensionKinds, type ExtensionKind } from "../../src/api/extensions/kinds.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { parseConfig } from "../../src/config.ts";
import { variables, type Process, type Variable } from "../../src/variables.ts";
import { findBinary } from "../support/binary.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";

// It applies all of deploy/ to a cluster that has none of it yet.
const test = ownClusterTest();
const deploy = join(import.meta.dirname, "../../deploy");
const core = "core.gardener.cloud";
const extensions = "extensions.gardener.cloud";
const machineKinds = ["machines", "machinesets", "machinedeployments"]
  .map((kind) => `${kind}.machine.sapcloud.io`)
  .join(" ");
const webhooks = "webhookconfigurations.admissionregistration.k8s.io";

interface Access {
  readonly user: string;
  readonly verbs: readonly string[];
  /** As kubectl has it, with a subresource and a name: `deployments.apps`, `pods:exec`, `secrets/mine`. */
  readonly resource: string;
  readonly namespace: string;
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as Package;

interface Package {
  readonly version: string;
}

let controlPlane: ControlPlane;
let objects: readonly KubeObject[];

test.beforeAll(async ({ cluster }) => {
  controlPlane = cluster;
  objects = [...(await render("garden")), ...(await render("seed"))];
  await controlPlane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden" } });
  const first = (object: KubeObject) => (object.kind === "Namespace" ? 0 : 1);
  for (const object of objects.toSorted((a, b) => first(a) - first(b))) await controlPlane.client.apply(object);
});

test("both bases fit into one cluster, so that a garden can be its own seed", () => {
  const names = objects.filter(({ kind }) => kind === "Deployment").map(({ metadata }) => metadata.name);
  expect(names.toSorted()).toEqual([
    "fence",
    "manager",
    "temporal-gateway",
    `worker-garden-${version.replaceAll(".", "-")}`,
    "worker-seed",
  ]);
});

// What the previous version has begun ends in its own Deployment: docs/deploying.md.
test("the garden's worker is told from that of another version, by its name and by its selector", () => {
  const worker = objects.find(
    ({ kind, metadata }) => kind === "Deployment" && metadata.name.startsWith("worker-garden"),
  );
  expect(worker).toMatchObject({
    spec: {
      selector: { matchLabels: { "app.kubernetes.io/version": version } },
      template: { spec: { containers: [{ image: `perennial.dev/perennial:${version}` }] } },
    },
  });
});

test("every process is given settings that it understands", () => {
  const settings = objects.filter(({ metadata }) => metadata.name.startsWith("settings-"));
  expect(settings).toHaveLength(2);
  for (const { data } of settings as (KubeObject & { data: Record<string, string> })[]) {
    const config = parseConfig(data, "PERENNIAL_SEED_NAME" in data ? "seed worker" : "garden worker");
    expect(Object.values(config)).toEqual(expect.arrayContaining(Object.values(data)));
    if ("PERENNIAL_SEED_NAME" in data) expect(parseConfig(data, "fence").seedName).toBe("seed-1");
  }
});

test("every pod is let in by the restricted Pod Security Standard", async () => {
  for (const deployment of objects.filter(({ kind }) => kind === "Deployment")) {
    const { template } = deployment["spec"] as { template: { metadata: object; spec: object } };
    const metadata = { ...template.metadata, name: deployment.metadata.name, namespace: "perennial" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: template.spec };
    expect(await controlPlane.client.apply(pod, { dryRun: true })).toMatchObject({ kind: "Pod" });
  }
});

test("every process answers probes, cannot write its file system, and may be drained away one at a time", () => {
  for (const deployment of objects.filter(({ kind }) => kind === "Deployment")) {
    expect(deployment).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                livenessProbe: { httpGet: { path: "/healthz" } },
                readinessProbe: { httpGet: { path: "/readyz" } },
                securityContext: { readOnlyRootFilesystem: true },
              },
            ],
          },
        },
      },
    });
    const name = deployment.metadata.labels?.["app.kubernetes.io/name"];
    const budget = objects.find(({ kind, metadata }) => kind === "PodDisruptionBudget" && metadata.name === name);
    expect(budget).toMatchObject({
      spec: { maxUnavailable: 1, selector: { matchLabels: { "app.kubernetes.io/name": name } } },
    });
  }
});

describe("what a process is told to read lies where something is mounted", () => {
  test.each([
    { base: "garden", options: [] },
    { base: "garden", options: ["webhook-callers", "zone-key"] },
    { base: "seed", options: [] },
    { base: "seed", options: ["zone-key", "resource-manager"] },
  ])("$base with $options", async ({ base, options }) => {
    const rendered = await render(base, options);
    const [settings = {}] = rendered.flatMap(({ metadata, data }) =>
      metadata.name.startsWith("settings-") ? [data as Record<string, string>] : [],
    );
    for (const { name, told, mounts } of rendered.flatMap(processOf)) {
      const reads = readBy[name] ?? fail(`nobody says what ${name} reads`);
      const all = Object.entries({ ...settings, ...told });
      const files = all.filter(([variable]) => reads.includes(variable) && /_(FILE|KUBECONFIG)$/.test(variable));
      for (const [variable, file] of files) expect(mounts, `${name} ${variable}`).toContain(dirname(file));
    }
  });
});

test("each process that Temporal's payloads pass through has the keys that encrypt them", async () => {
  const encrypting = async (base: string) => {
    const rendered = await render(base);
    const inSettings = rendered.some(({ data }) => Object.keys(data ?? {}).includes("PERENNIAL_PAYLOAD_KEYS_FILE"));
    return rendered.flatMap(processOf).flatMap(({ name, told }) => {
      const has = inSettings || "PERENNIAL_PAYLOAD_KEYS_FILE" in told;
      return has && readBy[name]?.includes("PERENNIAL_PAYLOAD_KEYS_FILE") ? [name] : [];
    });
  };
  expect(await encrypting("garden")).toEqual(["manager", "worker-garden"]);
  expect(await encrypting("seed")).toEqual(["worker-seed"]);
});

test("the webhooks know their caller and questions about leaders are signed, where an overlay asks for it", async () => {
  const having = async (base: string, variable: string) =>
    (await render(base, ["webhook-callers", "zone-key"]))
      .flatMap(processOf)
      .flatMap(({ name, told }) => (variable in told ? [name] : []));
  expect(await having("garden", "PERENNIAL_WEBHOOK_CLIENT_CA_FILE")).toEqual(["manager"]);
  expect(await having("garden", "PERENNIAL_ZONE_KEY_FILE")).toEqual(["worker-garden"]);
  expect(await having("seed", "PERENNIAL_ZONE_KEY_FILE")).toEqual(["fence"]);
});

test("all connections go out of a seed: nothing there can be called, and no process of the garden is told of one", async () => {
  const ways = (await render("seed")).filter(({ kind }) => /^(Service|Ingress|Gateway|HTTPRoute)$/.test(kind));
  expect(ways.map(({ metadata }) => metadata.name)).toEqual([]);
  for (const { name, told } of (await render("garden")).flatMap(processOf)) {
    const known = readBy[name] ?? fail(`it is not said what ${name} reads`);
    expect(known.concat(Object.keys(told)), name).not.toContain("PERENNIAL_SEED_KUBECONFIG");
  }
  const [seed = fail("the seed has no worker")] = (await render("seed"))
    .flatMap(processOf)
    .map(({ name }) => readBy[name]);
  expect(seed).toContain("PERENNIAL_SEED_KUBECONFIG");
});

test("every namespace that something is in comes with a manifest", () => {
  const manifests = [
    ...["garden/namespace.yaml", "process/namespace.yaml", "garden/seed-access.yaml"],
    "garden/extension-access.yaml",
  ];
  const made = manifests.flatMap((file) => [...read(file).matchAll(/kind: Namespace\nmetadata:\n {2}name: (.+)/g)]);
  const used = objects.flatMap(({ metadata }) => metadata.namespace ?? []);
  expect([...new Set(used)].filter((namespace) => !made.some(([, name]) => name === namespace))).toEqual([]);
});

describe("the deployed roles grant", () => {
  test.each(
    grants([
      ["manager", "get list watch", `shoots.${core} controllerregistrations.${core}`],
      ["manager", "patch delete", `shoots.${core}`],
      ["manager", "update", `shoots.${core}:binding`],
      ["manager", "list", "configmaps", "garden"],
      ["manager", "create", "leases.coordination.k8s.io", "garden"],
      ["manager", "get update", "leases.coordination.k8s.io/perennial-scheduler", "garden"],
      ["manager", "get", `controllerdeployments.${core} namespaces`],
      ["manager", "get list watch patch", `cloudprofiles.${core} projects.${core} secretbindings.${core}`],
      ["manager", "get list watch patch", `namespacedcloudprofiles.${core} quotas.${core} exposureclasses.${core}`],
      ["manager", "update", `namespacedcloudprofiles.${core}:status`],
      ["manager", "get list watch patch delete", "bastions.operations.gardener.cloud"],
      ["manager", "patch", "bastions.operations.gardener.cloud:status"],
      ["manager", "create patch", "events events.events.k8s.io"],
      ["manager", "get", "configmaps"],
      ["manager", "get list watch patch", "credentialsbindings.security.gardener.cloud"],
      ["manager", "get list watch patch", `seeds.${core}`],
      ["manager", "delete", `backupbuckets.${core}`],
      ["manager", "get list watch create patch", `backupbuckets.${core} backupentries.${core}`],
      ["manager", "patch", `shoots.${core}:status seeds.${core}:status`],
      ["manager", "patch", `backupbuckets.${core}:status backupentries.${core}:status`],
      ["manager", "update", `shoots.${core}:finalizers`],
      ["manager", "get create update patch delete", `shootstates.${core}`],
      ["manager", "get create patch", "secrets"],
      ["manager", "get list watch create patch delete", inRbac("roles rolebindings clusterroles clusterrolebindings")],
      ["manager", "list", "secrets", "garden"],
      ["manager", "create", "subjectaccessreviews.authorization.k8s.io"],
      ["manager", "get list watch create patch", `validating${webhooks}/perennial mutating${webhooks}/perennial`],
      ["worker-garden", "get list watch patch", `shoots.${core}`],
      ["worker-garden", "patch", `shoots.${core}:status`],
      ["worker-garden", "list", "domainreservations.perennial.dev"],
      ...["manager", "worker-garden", "worker-seed", "seed-1"].map(
        (user) => [user, "update", "reservedkeys.perennial.dev"] as const,
      ),
      ["worker-garden", "create", "events events.events.k8s.io"],
      ["worker-garden", "get", `seeds.${core} cloudprofiles.${core} namespacedcloudprofiles.${core} projects.${core}`],
      ["worker-garden", "get", "namespaces"],
      ["worker-garden", "get create patch delete", inExtensions("dnsrecords")],
      ["worker-garden", "get patch", `shootstates.${core}`],
      ["seed-1", "get", "configmaps/perennial-state-keys"],
      ["seed-1", "get list watch", `controllerregistrations.${core}`],
      ["seed-1", "get", `cloudprofiles.${core}`], // the rest by the manager: seed-access.test.ts
      ["worker-seed", "get list watch create patch delete", "namespaces services deployments.apps statefulsets.apps"],
      ["worker-seed", "get list watch create update patch delete", "secrets"],
      ["worker-seed", "get create patch delete", "configmaps persistentvolumeclaims"],
      ["worker-seed", "get list create patch delete", "networkpolicies.networking.k8s.io"],
      ["worker-seed", "list", "endpointslices.discovery.k8s.io"],
      ["worker-seed", "list watch", "leases.coordination.k8s.io"],
      ["worker-seed", "get list watch patch delete", "pods"],
      ["worker-seed", "get", "pods:log"],
      ["worker-seed", "list", "replicasets.apps"],
      ["manager", "get list watch create patch delete", `controllerinstallations.${core}`],
      ["manager", "get list watch patch", `controllerdeployments.${core}`],
      ["worker-garden", "get patch", "bastions.operations.gardener.cloud"],
      ["worker-garden", "update", "bastions.operations.gardener.cloud:status"],
      ["worker-garden", "get list watch", `controllerregistrations.${core} controllerinstallations.${core}`],
      ["worker-garden", "get", `controllerdeployments.${core}`],
      ["worker-seed", "get list watch create patch delete", "cronjobs.batch jobs.batch"],
      ["worker-seed", "create patch", "events events.events.k8s.io"],
      ["worker-seed", "get list watch create patch delete", `clusters.${extensions}`],
      ["fence", "get list", "namespaces"],
      ["fence", "list patch", "deployments.apps statefulsets.apps cronjobs.batch jobs.batch"],
      ["fence", "get patch", `clusters.${extensions}`],
      ["fence", "create patch", "events events.events.k8s.io"],
      ...Object.values(extensionKinds).flatMap(extensionGrants),
      ["worker-seed", "get list watch patch delete", machineKinds],
      ["worker-seed", "get list watch patch delete", "managedresources.resources.gardener.cloud"],
      ["worker-seed", "get create patch delete", "serviceaccounts poddisruptionbudgets.policy"],
      ["worker-seed", "get create patch delete", inRbac("rolebindings")],
      ["worker-seed", "bind", `${inRbac("clusterroles")}/perennial:resource-manager`],
      ["worker-seed", "bind", `${inRbac("clusterroles")}/perennial:machine-controller-manager`],
      ["worker-seed", "bind", `${inRbac("clusterroles")}/perennial:cluster-autoscaler`],
      ["fence", "list patch", "managedresources.resources.gardener.cloud"],
    ]),
  )("$user: $verbs $resource in $namespace", async (access) => {
    expect(await allowed(access)).toEqual(access.verbs);
  });
});

describe("the deployed roles refuse", () => {
  test.each(
    grants([
      ["manager", "create update", `shoots.${core}`],
      ["manager", "list watch update delete", "secrets"],
      ["manager", "bind escalate", inRbac("roles clusterroles")],
      ["manager", "get list watch create patch", `validating${webhooks}/another`],
      ["worker-garden", "get list create patch", "secrets"],
      ["worker-garden", "create update delete", `shoots.${core}`],
      ["seed-1", "get list watch create update patch delete", "secrets configmaps"],
      ["seed-1", "get list watch create update patch delete", `shoots.${core} seeds.${core} shootstates.${core}`],
      ["seed-1", "patch", `shoots.${core}:status seeds.${core}:status`],
      ["worker-seed", "create update patch bind escalate", "clusterrolebindings.rbac.authorization.k8s.io"],
      ["worker-seed", "bind escalate", `${inRbac("clusterroles")}/cluster-admin`],
      ["worker-seed", "create patch bind escalate", inRbac("roles clusterroles")],
      ["worker-seed", "create update", "pods managedresources.resources.gardener.cloud"],
      ["worker-seed", "create get", "pods:exec serviceaccounts:token nodes"],
      ["worker-seed", "create update", machineKinds],
      ["worker-seed", "update", `workers.${extensions}:status`],
      ["fence", "update", "reservedkeys.perennial.dev"],
      ["fence", "get list watch", "secrets configmaps pods"],
      ["fence", "create update patch delete", `secrets namespaces pods workers.${extensions}`],
      ["fence", "create delete", `deployments.apps statefulsets.apps jobs.batch clusters.${extensions}`],
    ]),
  )("$user: $verbs $resource in $namespace", async (access) => {
    expect(await allowed(access)).toEqual([]);
  });

  test("every role with a wildcard", () => {
    const roles = objects.filter(({ kind }) => kind === "ClusterRole" || kind === "Role");
    expect(roles.length).toBeGreaterThan(3);
    expect(JSON.stringify(roles)).not.toContain('"*"');
  });
});

/** What the seed's worker does to the objects of a kind, by the table of kinds. */
function extensionGrants({ kind, plural, contract }: (typeof extensionKinds)[ExtensionKind]): Grant[] {
  const verbs = `get list watch ${contract.writer === "other" ? "" : "create "}patch delete`;
  const restored = contract.stateful && appliedKinds.some((applied) => applied === kind);
  return [
    ["worker-seed", verbs, inExtensions(plural)],
    ...(restored ? ([["worker-seed", "patch", `${inExtensions(plural)}:status`]] as const) : []),
  ];
}

type Grant = readonly [user: string, verbs: string, resources: string, namespace?: string];

function inRbac(plurals: string): string {
  return plurals.replaceAll(/\w+/g, "$&.rbac.authorization.k8s.io");
}

function inExtensions(plurals: string): string {
  return plurals.replaceAll(/\w+/g, `$&.${extensions}`);
}

/** What `kubectl apply -k` applies: of a base, or of an overlay that adds these options to it. */
async function render(base: string, options: readonly string[] = []): Promise<Rendered[]> {
  const folder = await mkdtemp(join(tmpdir(), "overlay-"));
  try {
    const of = (path: string) => relative(folder, join(deploy, path));
    const overlay = { resources: [of(base)], components: options.map((option) => of(`options/${option}`)) };
    await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(overlay));
    const { stdout } = await promisify(execFile)(await findBinary("kubectl"), ["kustomize", folder]);
    return parseAllDocuments(stdout).map((document) => document.toJS() as Rendered);
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Rendered = KubeObject & { readonly data?: Readonly<Record<string, string>> };

/** The process of a Deployment, with the variables of its own and the folders that something is mounted at. */
function processOf(object: KubeObject) {
  if (object.kind !== "Deployment") return [];
  const { template } = object["spec"] as { template: { spec: { containers: Container[] } } };
  const { env, volumeMounts } = template.spec.containers[0] ?? fail(`${object.metadata.name} has no container`);
  const told = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  const mounts = volumeMounts.map(({ mountPath }) => mountPath);
  return [{ name: object.metadata.labels?.["app.kubernetes.io/name"] ?? "", told, mounts }];
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

/** The variables that each process reads, by the name of its Deployment. */
const readBy: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({
    "temporal-gateway": "Temporal gateway",
    manager: "manager",
    "worker-garden": "garden worker",
    "worker-seed": "seed worker",
    fence: "fence",
  } satisfies Record<string, Process>).map(([name, process]) => [
    name,
    Object.entries<Variable>(variables).flatMap(([variable, { readBy }]) => (readBy.includes(process) ? variable : [])),
  ]),
);

function read(file: string): string {
  return readFileSync(join(deploy, file), "utf8");
}

function fail(message: string): never {
  throw new Error(message);
}

/** One access for each resource of each row. */
function grants(rows: readonly Grant[]): Access[] {
  return rows.flatMap(([user, verbs, resources, namespace = "any"]) =>
    resources.split(" ").map((resource) => ({ user, verbs: verbs.split(" "), resource, namespace })),
  );
}

/** The verbs of those asked for that the API server's authorizer grants. */
async function allowed({ user, verbs, resource, namespace }: Access): Promise<string[]> {
  const [, plural = "", group = "", subresource = "", name = ""] =
    /^(\w+)(?:\.([\w.]+))?(?::(\w+))?(?:\/([\w:-]+))?$/.exec(resource) ?? expect.fail(`${resource} is no resource`);
  const home = user === "seed-1" ? "perennial-seeds" : "perennial";
  const granted: string[] = [];
  for (const verb of verbs) {
    const review = await controlPlane.client.create<Review>({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: {
        user: `system:serviceaccount:${home}:${user}`,
        groups: ["system:serviceaccounts", `system:serviceaccounts:${home}`, "system:authenticated"],
        resourceAttributes: { namespace, verb, group, resource: plural, subresource, name },
      },
    });
    if (review.status?.allowed) granted.push(verb);
  }
  return granted;
}

interface Review extends KubeObject {
  readonly spec: object;
  readonly status?: { readonly allowed: boolean };
}
