import { describe, expect, it } from "vitest";
import { constraintsAfter, examineConstraints } from "../../../src/activities/shoot/constraints.ts";
import type { Condition, KubeObject } from "../../../src/api/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";

const rule = (change: object = {}) => ({
  ...{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "*" },
  ...change,
});

const nodes = rule({ resources: ["nodes"] });
const leases = rule({ apiGroups: ["coordination.k8s.io"], resources: ["leases"] });

const ignoring = (timeoutSeconds: number, one: object) => ({ failurePolicy: "Ignore", timeoutSeconds, rules: [one] });

const namespace = (name: string): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Namespace" },
  metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
});

const configuration = (webhooks: readonly object[], labels = {}, kind = "ValidatingWebhookConfiguration") => ({
  ...{ apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name: "policies", labels } },
  webhooks,
});

/** A cluster that answers lists with what was asked to be kept, and remembers the selections. */
function clusterWith(objects: readonly KubeObject[], asked: object[] = []): Pick<KubeClient, "list"> {
  const list = async (
    { kind }: { kind: string },
    { keep = (one: KubeObject) => one, ...selection }: { keep?: (object: KubeObject) => KubeObject } = {},
  ) => {
    asked.push({ kind, ...selection });
    return objects.filter((one) => one.kind === kind).map(keep);
  };
  return { list: list as KubeClient["list"] };
}

async function examine(webhook: object, labels?: Record<string, string>, kind?: string) {
  const webhooks = [{ name: "check.example.com", ...webhook }];
  const namespaces = ["default", "kube-system", "kube-node-lease"].map(namespace);
  return await examineConstraints(clusterWith([...namespaces, configuration(webhooks, labels, kind)]));
}

describe("a webhook keeps a Shoot from waking up that", () => {
  it.each<[string, object, string]>([
    ["refuses nodes", { failurePolicy: "Fail", rules: [nodes] }, "nodes"],
    ["says nothing of failures, which means it refuses", { rules: [nodes] }, "nodes"],
    ["refuses every kind", { rules: [rule({ apiGroups: ["*"], resources: ["*"] })] }, "nodes"],
    ["refuses nodes' statuses", { rules: [rule({ resources: ["nodes/*"], operations: ["UPDATE"] })] }, "nodes/status"],
    ["refuses pods in all namespaces", { rules: [rule()] }, "pods in kube-system"],
    [
      "refuses the leases of nodes",
      {
        rules: [rule({ apiGroups: ["coordination.k8s.io"], resources: ["*"] })],
        namespaceSelector: {
          matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system"] }],
        },
      },
      "leases in kube-node-lease",
    ],
    [
      "ignores failures after the 10 s of a default",
      { failurePolicy: "Ignore", rules: [leases] },
      "leases in kube-node-lease",
    ],
    ["ignores them when leaders have given up", ignoring(4, leases), "leases in kube-system"],
    ["ignores them when kubelets have given up", ignoring(10, rule({ resources: ["nodes/status"] })), "nodes/status"],
    ["ignores them when others have given up", ignoring(16, nodes), "nodes"],
  ])("%s", async (_, webhook, resource) => {
    for (const kind of ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
      expect(await examine(webhook, undefined, kind)).toMatchObject({
        reached: false,
        message: expect.stringContaining(`webhook check.example.com of ${kind} policies for ${resource}`),
      });
  });
});

describe("a dead webhook on what a Shoot writes while it wakes up is in its way:", () => {
  const namespaced = [
    ["discovery.k8s.io", "endpointslices", "default"],
    ["discovery.k8s.io", "endpointslices", "kube-system"],
    ["", "endpoints", "default"],
    ["", "endpoints", "kube-system"],
    ["", "services", "default"],
    ["", "services/status", "default"],
    ["", "services/status", "kube-system"],
    ["", "namespaces", "kube-system"],
    ["", "namespaces/status", "kube-system"],
    ["apps", "controllerrevisions", "kube-system"],
    ["apps", "daemonsets/status", "kube-system"],
    ["apps", "deployments/scale", "kube-system"],
    ["apps", "replicasets/scale", "kube-system"],
    ["apps", "replicasets/status", "kube-system"],
    ["networking.k8s.io", "networkpolicies", "kube-system"],
    ["rbac.authorization.k8s.io", "rolebindings", "kube-system"],
    ["rbac.authorization.k8s.io", "roles", "kube-system"],
  ] as const;
  it.each(namespaced)("%s %s in %s, and not elsewhere", async (group, resource, place) => {
    const rules = [rule({ apiGroups: [group], resources: [resource] })];
    const only = { matchLabels: { "kubernetes.io/metadata.name": place } };
    expect(await examine({ rules, namespaceSelector: only })).toMatchObject({
      message: expect.stringContaining(`policies for ${resource} in ${place}`),
    });
    const elsewhere = { matchLabels: { "kubernetes.io/metadata.name": "shop" } };
    expect(await examine({ rules, namespaceSelector: elsewhere })).toEqual({ reached: true });
  });

  const inNone = [
    ["apiextensions.k8s.io", "customresourcedefinitions"],
    ["apiextensions.k8s.io", "customresourcedefinitions/status"],
    ["apiregistration.k8s.io", "apiservices"],
    ["apiregistration.k8s.io", "apiservices/status"],
    ["certificates.k8s.io", "certificatesigningrequests/approval"],
    ["certificates.k8s.io", "certificatesigningrequests/status"],
    ["rbac.authorization.k8s.io", "clusterroles"],
    ["rbac.authorization.k8s.io", "clusterrolebindings"],
    ["scheduling.k8s.io", "priorityclasses"],
  ] as const;
  it.each(inNone)("%s %s", async (group, resource) => {
    const rules = [rule({ apiGroups: [group], resources: [resource], scope: "Cluster" })];
    const elsewhere = { matchLabels: { "kubernetes.io/metadata.name": "shop" } };
    expect(await examine({ rules, namespaceSelector: elsewhere })).toMatchObject({
      message: expect.stringContaining(`policies for ${resource}`),
    });
  });
});

describe("what is read to judge webhooks", () => {
  const many = Array.from({ length: 200 }, (_, at) => ({ name: `w${at}.example.com`, rules: [rule()] }));

  it("is the labels of three namespaces, and each once, however many webhooks there are", async () => {
    const asked: object[] = [];
    let reads = 0;
    const counting = (name: string): KubeObject => {
      const { metadata, ...one } = namespace(name);
      return Object.defineProperty({ ...one, metadata }, "metadata", {
        ...{ enumerable: true, get: () => ((reads += 1), metadata) },
      });
    };
    const own = ["default", "kube-node-lease", "kube-system"].map(counting);
    await examineConstraints(clusterWith([...own, configuration(many)], asked));
    expect(asked[0]).toMatchObject({
      kind: "Namespace",
      labelSelector: "kubernetes.io/metadata.name in (default,kube-node-lease,kube-system)",
    });
    expect(reads).toBeLessThan(20);
  });

  it("is of a webhook what is judged, and neither what answers it nor what others wrote on it", async () => {
    const kept: unknown[] = [];
    const bulky = { caBundle: "x".repeat(1_000), service: { namespace: "policies", name: "policies" } };
    const webhook = { name: "w.example.com", matchConditions: [{ name: "a", expression: "true" }], rules: [rule()] };
    const one = configuration([{ ...webhook, clientConfig: bulky }], { team: "a" });
    const objects = [{ ...one, metadata: { ...one.metadata, annotations: { last: "x".repeat(1_000) } } }];
    const { list } = clusterWith(objects);
    const looking = async (...[type, selection]: Parameters<typeof list>) => {
      const items = await list(type, selection);
      kept.push(...items);
      return items;
    };
    await examineConstraints({ list: looking as KubeClient["list"] });
    expect(kept).toEqual([
      {
        ...configuration([{ name: "w.example.com", rules: [expect.objectContaining({ resources: ["pods"] })] }], {
          team: "a",
        }),
      },
    ]);
  });
});

describe("a webhook keeps no Shoot from waking up that", () => {
  it.each<[string, object]>([
    ["ignores failures", { failurePolicy: "Ignore", rules: [nodes] }],
    ["ignores failures of leases soon", ignoring(3, leases)],
    ["ignores failures of heartbeats in time", ignoring(9, rule({ resources: ["nodes/status"] }))],
    ["ignores failures of nodes in time", ignoring(15, nodes)],
    [
      "leaves out kube-system",
      {
        rules: [rule()],
        namespaceSelector: {
          matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["kube-system"] }],
        },
      },
    ],
    ["asks for a label of the users'", { rules: [rule()], objectSelector: { matchLabels: { inject: "true" } } }],
    ["judges deletions only", { rules: [rule({ resources: ["nodes"], operations: ["DELETE"] })] }],
    ["judges the users' own kinds", { rules: [rule({ apiGroups: ["example.com"], resources: ["*"] })] }],
    ["judges what is in namespaces", { rules: [rule({ resources: ["nodes"], scope: "Namespaced" })] }],
  ])("%s", async (_, webhook) => expect(await examine(webhook)).toEqual({ reached: true }));

  it("belongs to the Shoot's system", async () => {
    const labels = { "resources.gardener.cloud/managed-by": "gardener" };
    expect(await examine({ rules: [nodes] }, labels)).toEqual({ reached: true });
  });
});

describe("the constraints of a Shoot", () => {
  const at = (time: string) => new Date(`2026-11-28T${time}Z`);
  const bad = { reached: false, message: "webhook w" } as const;
  const theirs: Condition = { ...constraintsAfter([], { reached: true }, at("09:00:00"))[0], type: "Theirs" } as never;

  it("turn False and True again, keep their times while nothing changes, and leave others' alone", () => {
    const first = constraintsAfter([theirs], bad, at("10:00:00"));
    expect(first.map(({ type, status, message }) => [type, status, message])).toEqual([
      ["HibernationPossible", "False", "webhook w"],
      ["MaintenancePreconditionsSatisfied", "False", "webhook w"],
      ["Theirs", "True", theirs.message],
    ]);
    expect(constraintsAfter(first, bad, at("11:00:00"))).toEqual(first);
    const healed = constraintsAfter(first, { reached: true }, at("12:00:00"));
    expect(healed[0]).toMatchObject({ status: "True", lastTransitionTime: "2026-11-28T12:00:00Z" });
  });

  it("stay as they are while the API server does not answer, and claim nothing while the Shoot sleeps", () => {
    const known = constraintsAfter([], bad, at("10:00:00"));
    expect(constraintsAfter(known, undefined, at("11:00:00"))).toBe(known);
    expect(constraintsAfter(known, "hibernated", at("11:00:00"))[0]).toMatchObject({
      ...{ status: "True", reason: "ConstraintNotChecked" },
    });
  });
});
