import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import {
  components,
  restoreJob,
  snapshotJob,
  warmUpJob,
  type ControlPlaneContext,
  type SeedContext,
} from "../../../src/components/index.ts";
import { exampleContext } from "../../support/control-plane-context.ts";
import { mayConnect, type End } from "../../support/network-policy.ts";

const context = withSeed({ nodes: "10.225.0.0/16", blockCIDRs: ["169.254.169.254/32", "192.0.2.0/24", "10.9.0.0/16"] });
const other = { ...context, namespace: "shoot--other--victim" };
const policies = [context, other].flatMap((one) => components["network-policies"].objects(one));

/** Every pod that we deploy into a Shoot's namespace, by the component's name. */
const own = podsOf(context);
const others = podsOf(other);

/** Pods of extensions, by what their labels ask for. */
const extension = (...labels: string[]): End =>
  inNamespace(context, Object.fromEntries(labels.map((one) => [one, "allowed"])));
const elsewhere = (namespace: string, labels = {}, namespaceLabels = {}): End => ({
  address: "10.226.9.9",
  pod: { namespace, labels, namespaceLabels },
});

const beyond: Readonly<Record<string, End>> = {
  "seed's DNS": elsewhere("kube-system", { "k8s-app": "kube-dns" }),
  "seed's API server": { address: "10.225.0.6" },
  "another pod of the seed": elsewhere("default"),
  "Service of the seed": { address: "10.227.0.7" },
  "node of the seed": { address: "10.225.0.7" },
  "node of the Shoot": { address: "10.250.0.4" },
  "pod of the Shoot": { address: "10.180.3.4" },
  "extension's webhooks": elsewhere("extension-provider", {}, { "gardener.cloud/role": "extension" }),
  internet: { address: "93.184.216.34" },
  "private address": { address: "192.168.7.7" },
  "cloud's metadata": { address: "169.254.169.254" },
  "blocked address": { address: "192.0.2.9" },
  "blocked private address": { address: "10.9.1.1" },
};

const ports: Readonly<Record<string, number>> = {
  "kube-apiserver": 443,
  "etcd-main": 2379,
  "etcd-events": 2379,
  "seed's DNS": 53,
  "gardener-resource-manager": 10250,
};
const wide = ["internet", "private address"];
const ofTheShoot = ["node of the Shoot", "pod of the Shoot"];

test.for<[string, string[]]>([
  [
    "kube-apiserver",
    [
      ...["etcd-main", "etcd-events", "gardener-resource-manager", "extension's webhooks", "seed's DNS"],
      ...[...ofTheShoot, ...wide],
    ],
  ],
  ["kube-controller-manager", ["kube-apiserver", "seed's DNS"]],
  ["kube-scheduler", ["kube-apiserver", "seed's DNS"]],
  ["gardener-resource-manager", ["kube-apiserver", "seed's API server", "seed's DNS"]],
  ["machine-controller-manager", ["kube-apiserver", "seed's API server", "seed's DNS", ...wide]],
  ["cluster-autoscaler", ["kube-apiserver", "seed's API server", "seed's DNS"]],
  ["etcd-main", ["seed's DNS"]],
  ["etcd-events", ["seed's DNS"]],
  ["etcd-check", ["etcd-main", "etcd-events", "seed's DNS"]],
  ["etcd-main-defrag", ["etcd-main", "etcd-events", "seed's DNS"]],
  ["etcd-events-defrag", ["etcd-main", "etcd-events", "seed's DNS"]],
  ["etcd-backup", ["etcd-main", "seed's DNS", ...wide]],
  ["final-snapshot", ["etcd-main", "seed's DNS", ...wide]],
  ["restore", ["etcd-main", "seed's DNS", ...wide]],
  ["warm-up", ["etcd-main", "seed's DNS", ...wide]],
])("%s reaches %j and nothing else", ([name, expected]) => {
  expect(reachableFrom(own[name]).toSorted()).toEqual(expected.toSorted());
});

test("agents of a tunnel reach its server from outside, where there is one; pods of the seed do not", () => {
  const may = (from: End | undefined, tunnel: boolean) => {
    const tunnelled = tunnel ? components["network-policies"].objects({ ...context, tunnel: true }) : policies;
    if (from === undefined) throw new Error("there is no such end");
    return mayConnect(tunnelled, { from, to: own["kube-apiserver"] ?? expect.fail("no API server"), port: 8132 });
  };
  expect(may(beyond["node of the Shoot"], true)).toBe(true);
  expect(may(beyond["internet"], true)).toBe(true);
  expect(may(beyond["node of the Shoot"], false)).toBe(false);
  expect(may(beyond["another pod of the seed"], true)).toBe(false);
  expect(may(own["kube-scheduler"], true)).toBe(false);
});

test("the table above has every pod that we deploy", () => {
  expect(Object.keys(own).toSorted()).toEqual(
    [
      ...["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd-main", "etcd-events"],
      ...["machine-controller-manager", "cluster-autoscaler"],
      ...["etcd-check", "etcd-main-defrag", "etcd-events-defrag"],
      ...["gardener-resource-manager", "etcd-backup", "final-snapshot", "restore", "warm-up"],
    ].toSorted(),
  );
});

test.for<[string, string[]]>([
  ["networking.gardener.cloud/to-dns", ["seed's DNS"]],
  ["networking.gardener.cloud/to-runtime-apiserver", ["seed's API server"]],
  ["networking.gardener.cloud/to-seed-apiserver", ["seed's API server"]],
  ["networking.gardener.cloud/to-public-networks", ["internet"]],
  ["networking.gardener.cloud/to-private-networks", ["private address"]],
  ["networking.gardener.cloud/to-shoot-networks", ["node of the Shoot", "pod of the Shoot"]],
  ["networking.gardener.cloud/to-blocked-cidrs", ["blocked address", "blocked private address", "cloud's metadata"]],
  ["networking.gardener.cloud/to-shoot-apiserver", ["kube-apiserver"]],
  ["networking.resources.gardener.cloud/to-kube-apiserver-tcp-443", ["kube-apiserver"]],
  ["networking.resources.gardener.cloud/to-etcd-main-client-tcp-2379", ["etcd-main"]],
  ["networking.resources.gardener.cloud/to-etcd-events-client-tcp-2379", ["etcd-events"]],
])("a pod of an extension with %s reaches %j and nothing else", ([label, expected]) => {
  expect(reachableFrom(extension(label)).toSorted()).toEqual(expected.toSorted());
});

test("a pod of an extension without labels reaches nothing, and nothing reaches it", () => {
  expect(reachableFrom(extension())).toEqual([]);
  for (const from of [...Object.values(own), elsewhere("default"), { address: "10.225.0.7" }])
    expect(mayConnect(policies, { from, to: extension(), port: 8080 })).toBe(false);
});

test("no pod of a Shoot, however it is labelled, reaches a pod of another Shoot, at any port", () => {
  const labels = Object.keys(Object.assign({}, ...policies.map(chosenLabels)) as object);
  const everything = extension(...labels.filter((label) => label.startsWith("networking.")));
  for (const from of [...Object.values(own), everything])
    for (const to of Object.values(others))
      for (const port of [53, 443, 2379, 2380, 2381, 8053, 10250])
        expect(mayConnect(policies, { from, to, port }), `${JSON.stringify(from)} to ${JSON.stringify(to)}`).toBe(
          false,
        );
});

test.for<[string, End, boolean]>([
  ["a user or a load balancer", { address: "198.51.100.1" }, true],
  ["a node of the Shoot", { address: "10.250.0.4" }, true],
  ["a node of the seed", { address: "10.225.0.7" }, true],
  ["the seed's worker", elsewhere("perennial"), true],
  ["an extension", elsewhere("extension-provider", {}, { "gardener.cloud/role": "extension" }), true],
  ["another pod of the seed", elsewhere("default"), false],
  [
    "a namespace that calls itself a Shoot's",
    elsewhere("x", { app: "kubernetes", role: "scheduler" }, { "gardener.cloud/role": "shoot" }),
    false,
  ],
])("the API server is reached by %s: %j", ([, from, expected]) => {
  const to = own["kube-apiserver"] ?? expect.fail();
  expect(mayConnect(policies, { from, to, port: 443 })).toBe(expected);
  expect(mayConnect(policies, { from, to, port: 6060 })).toBe(false);
});

test.for(["perennial", "garden", "default"])(
  "etcd is reached by no pod of namespace %s, nor by any node",
  (namespace) => {
    for (const name of ["etcd-main", "etcd-events"]) {
      const to = own[name] ?? expect.fail();
      expect(mayConnect(policies, { from: elsewhere(namespace), to, port: 2379 })).toBe(false);
      expect(mayConnect(policies, { from: { address: "10.225.0.7" }, to, port: 2379 })).toBe(false);
    }
  },
);

test("a Shoot whose networks are the seed's opens no way to the seed's pods", () => {
  const sly = exampleContext({
    ...context,
    shoot: {
      ...context.shoot,
      spec: { ...context.shoot.spec, networking: { type: "local", pods: "10.226.0.0/16", services: "10.227.0.0/17" } },
    },
  });
  const closed = components["network-policies"].objects(sly);
  const [from, to] = [podsOf(sly)["kube-apiserver"] ?? expect.fail(), elsewhere("default")];
  for (const port of [443, 2379, 8080]) expect(mayConnect(closed, { from, to, port })).toBe(false);
});

test("a Shoot whose status has the seed's networks as its nodes opens a way to the seed's nodes, and to nothing else of it", () => {
  const nodes = ["10.225.0.0/16", "10.226.0.0/16", "10.227.0.0/17", "169.254.169.254/32"];
  const sly = exampleContext({
    ...context,
    shoot: { ...context.shoot, status: { ...context.shoot.status, networking: { nodes } } },
  });
  const opened = components["network-policies"].objects(sly);
  const from = podsOf(sly)["kube-apiserver"] ?? expect.fail();
  const reaches = (name: string) => mayConnect(opened, { from, to: beyond[name] ?? expect.fail(name), port: 8080 });
  expect(reaches("node of the seed")).toBe(true);
  for (const name of ["another pod of the seed", "Service of the seed", "cloud's metadata"])
    expect(reaches(name), name).toBe(false);
});

test("the namespace is closed from its first moment, before there is a pod in it", () => {
  const kinds = components.namespace.objects(context).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(kinds.slice(0, 3)).toEqual([
    "Namespace shoot--dev--example",
    "Cluster shoot--dev--example", // webhooks that change policies look it up
    "NetworkPolicy deny-all",
  ]);
  expect(components.namespace.objects(context).slice(2)).toEqual(components["network-policies"].objects(context));
});

function withSeed(networks: Partial<SeedContext["seed"]["spec"]["networks"]>): ControlPlaneContext {
  const { seed, shoot, ...rest } = exampleContext();
  return {
    ...rest,
    shoot: { ...shoot, status: { networking: { nodes: ["10.250.0.0/16"] } } },
    seed: { ...seed, spec: { ...seed.spec, networks: { ...seed.spec.networks, ...networks } } },
    seedApiServer: { addresses: ["10.225.0.6"], port: 6443 },
  };
}

function inNamespace({ namespace }: ControlPlaneContext, labels: Record<string, string>): End {
  return { address: "10.226.1.1", pod: { namespace, labels, namespaceLabels: { "gardener.cloud/role": "shoot" } } };
}

interface Workload extends KubeObject {
  readonly spec: {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec: { readonly template: Template } };
  };
}

interface Template {
  readonly metadata: { readonly labels: Record<string, string> };
}

function podsOf(one: ControlPlaneContext): Readonly<Record<string, End>> {
  const jobs = [
    snapshotJob(one, "final-snapshot"),
    restoreJob(one, "restore", { snapshot: "x.db", bump: false }),
    warmUpJob(one, "warm-up"),
  ];
  const objects = Object.values(components).flatMap(({ target, objects }) => (target === "seed" ? objects(one) : []));
  const workloads = [...objects, ...jobs].filter(({ kind }) =>
    /^(Deployment|StatefulSet|DaemonSet|CronJob|Job)$/.test(kind),
  );
  return Object.fromEntries(
    (workloads as Workload[]).map(({ metadata, spec }) => {
      const template = spec.template ?? spec.jobTemplate?.spec.template;
      return [metadata.name, inNamespace(one, template?.metadata.labels ?? {})];
    }),
  );
}

/** Components of the Shoot and places beyond that a pod reaches, each at the port that it serves. */
function reachableFrom(from: End | undefined): string[] {
  if (from === undefined) throw new Error("there is no such pod");
  const servers = Object.entries(own).filter(([name]) => name in ports && own[name] !== from);
  return [...servers, ...Object.entries(beyond)].flatMap(([name, to]) => {
    const port = ports[name] ?? (name === "seed's API server" ? 6443 : 10250);
    return mayConnect(policies, { from, to, port }) ? [name] : [];
  });
}

function chosenLabels(policy: KubeObject): Record<string, string> {
  return (
    (policy as unknown as { spec: { podSelector: { matchLabels?: Record<string, string> } } }).spec.podSelector
      .matchLabels ?? {}
  );
}

test("a network of nodes that some readers take for one of the seed's opens nothing", () => {
  const { shoot } = context;
  const status = { ...shoot.status, networking: { nodes: ["10.250.0.0/16", "::ffff:10.0.0.0/104"] } };
  const made = components["network-policies"].objects({ ...context, shoot: { ...shoot, status } });
  expect(JSON.stringify(made)).toContain("10.250.0.0/16");
  expect(JSON.stringify(made)).not.toContain("::ffff");
});
