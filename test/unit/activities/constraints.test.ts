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

async function examine(webhook: object, labels?: Record<string, string>, kind = "ValidatingWebhookConfiguration") {
  const objects: KubeObject[] = ["kube-system", "kube-node-lease"].map((name) => ({
    ...{ apiVersion: "v1", kind: "Namespace" },
    metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
  }));
  objects.push({
    ...{
      apiVersion: "admissionregistration.k8s.io/v1",
      kind,
      metadata: { name: "policies", ...(labels && { labels }) },
    },
    webhooks: [{ name: "check.example.com", ...webhook }],
  });
  const list = async ({ kind }: { kind: string }) => objects.filter((one) => one.kind === kind);
  return await examineConstraints({ list: list as KubeClient["list"] });
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
