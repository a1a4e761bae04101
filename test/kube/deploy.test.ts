import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/index.ts";
import { findBinary } from "../support/binary.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";

interface Access {
  readonly user: string;
  readonly verbs: readonly string[];
  /** As kubectl has it: `deployments.apps`, `pods/exec`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

let cluster: ControlPlane;
let objects: readonly KubeObject[];

beforeAll(async () => {
  cluster = await startControlPlane();
  objects = [...(await render("garden")), ...(await render("seed"))];
  const first = (object: KubeObject) => (object.kind === "Namespace" ? 0 : 1);
  for (const object of objects.toSorted((a, b) => first(a) - first(b))) await cluster.client.apply(object);
});

afterAll(async () => await cluster.stop());

test("both bases fit into one cluster, so that a garden can be its own seed", () => {
  const names = objects.filter(({ kind }) => kind === "Deployment").map(({ metadata }) => metadata.name);
  expect(names.toSorted()).toEqual(["manager", "worker-garden", "worker-seed"]);
});

test("every pod is let in by the restricted Pod Security Standard", async () => {
  for (const deployment of objects.filter(({ kind }) => kind === "Deployment")) {
    const { template } = deployment["spec"] as { template: { metadata: object; spec: object } };
    const metadata = { ...template.metadata, name: deployment.metadata.name, namespace: "perennial" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: template.spec };
    expect(await cluster.client.apply(pod, { dryRun: true })).toMatchObject({ kind: "Pod" });
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
    const budget = objects.find(
      ({ kind, metadata }) => kind === "PodDisruptionBudget" && metadata.name === deployment.metadata.name,
    );
    expect(budget).toMatchObject({ spec: { maxUnavailable: 1 } });
  }
});

describe("what a process does is granted", () => {
  test.each<Access>([
    ...each("manager", ["get", "list", "watch"], ["shoots.core.gardener.cloud"]),
    ...each("manager", ["get", "create", "patch"], ["validatingwebhookconfigurations.admissionregistration.k8s.io"], {
      name: "perennial",
    }),
    ...each("manager", ["get", "create", "patch"], ["secrets"], { namespace: "perennial", name: "perennial-webhook" }),
    ...each("worker-garden", ["get", "patch"], ["shoots.core.gardener.cloud"]),
    ...each("worker-garden", ["patch"], ["shoots.core.gardener.cloud/status"]),
    ...each("worker-garden", ["get"], ["seeds.core.gardener.cloud", "namespaces"]),
    ...each(
      "worker-seed",
      ["get", "list", "watch", "create", "patch", "delete"],
      ["namespaces", "services", "deployments.apps", "statefulsets.apps"],
    ),
    ...each(
      "worker-seed",
      ["get", "create", "patch", "delete"],
      ["secrets", "configmaps", "clusters.extensions.gardener.cloud"],
    ),
    ...each(
      "worker-seed",
      ["get", "list", "watch", "create", "patch", "delete"],
      ["infrastructures", "controlplanes", "workers", "operatingsystemconfigs", "networks", "dnsrecords"].map(
        (kind) => `${kind}.extensions.gardener.cloud`,
      ),
    ),
  ])("$user: $verbs $resource", async (access) => {
    expect(await allowed(access)).toEqual(access.verbs);
  });
});

describe("what a process has no business with is refused", () => {
  test.each<Access>([
    { user: "manager", verbs: ["patch"], resource: "shoots.core.gardener.cloud" },
    { user: "manager", verbs: ["get"], resource: "secrets", namespace: "garden-dev" },
    { user: "manager", verbs: ["list"], resource: "secrets", namespace: "perennial" },
    {
      user: "manager",
      verbs: ["patch"],
      resource: "validatingwebhookconfigurations.admissionregistration.k8s.io",
      name: "another",
    },
    { user: "worker-garden", verbs: ["get"], resource: "secrets" },
    { user: "worker-garden", verbs: ["delete"], resource: "shoots.core.gardener.cloud" },
    { user: "worker-seed", verbs: ["create"], resource: "clusterrolebindings.rbac.authorization.k8s.io" },
    { user: "worker-seed", verbs: ["create"], resource: "pods/exec" },
    { user: "worker-seed", verbs: ["patch"], resource: "workers.extensions.gardener.cloud/status" },
    { user: "worker-seed", verbs: ["get"], resource: "nodes" },
  ])("$user: $verbs $resource", async (access) => {
    expect(await allowed(access)).toEqual([]);
  });

  test("no role has a wildcard", () => {
    const roles = objects.filter(({ kind }) => kind === "ClusterRole" || kind === "Role");
    expect(roles.length).toBeGreaterThan(3);
    expect(JSON.stringify(roles)).not.toContain('"*"');
  });
});

async function render(base: string): Promise<KubeObject[]> {
  const folder = join(import.meta.dirname, "../../deploy", base);
  const { stdout } = await promisify(execFile)(await findBinary("kubectl"), ["kustomize", folder]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
}

function each(
  user: string,
  verbs: readonly string[],
  resources: readonly string[],
  object: Partial<Access> = {},
): Access[] {
  return resources.map((resource) => ({ user, verbs, resource, namespace: "any", ...object }));
}

/** The verbs of those asked for that the API server's authorizer grants. */
async function allowed({ user, verbs, resource, ...attributes }: Access): Promise<string[]> {
  const [type = "", subresource = ""] = resource.split("/");
  const [plural = "", ...group] = type.split(".");
  const granted: string[] = [];
  for (const verb of verbs) {
    const review = await cluster.client.create<Review>({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: {
        user: `system:serviceaccount:perennial:${user}`,
        groups: ["system:serviceaccounts", "system:authenticated"],
        resourceAttributes: { ...attributes, verb, group: group.join("."), resource: plural, subresource },
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
