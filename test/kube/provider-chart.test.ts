import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect } from "vitest";
import type { ControllerRegistration, KubeObject } from "../../src/api/index.ts";
import { extensionKinds, type ExtensionKind } from "../../src/api/extensions/kinds.ts";
import { readManifest } from "../../src/manifests.ts";
import { findBinary } from "../support/binary.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { renderProviderChart } from "../support/provider-chart.ts";

/** The chart of the local provider, as a real API server takes it, and the rights that its service account has by it. */
const namespace = "extension-provider-local-x";
let plane: ControlPlane;
let folder: string;

beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "perennial-provider-chart-"))));
afterAll(async () => await rm(folder, { recursive: true, force: true }));

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
});

test("an API server takes all of it, strictly", async () => {
  const objects = await render();
  expect(objects.map(({ kind }) => kind).sort()).toEqual(
    ["ClusterRole", "ClusterRoleBinding", "ConfigMap", "Deployment", "Role", "RoleBinding", "ServiceAccount"].sort(),
  );
  const file = join(folder, "objects.json");
  await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const kubectl = ["--kubeconfig", plane.kubeconfigFile, "apply", "--server-side", "--validate=strict", "-f", file];
  await execa(await findBinary("kubectl"), kubectl);
});

test("it may do what the provider does in a seed", async () => {
  const verbs = ["get", "list", "watch", "patch"];
  const [registration] = (await readManifest("examples/controller-registration.yaml")) as ControllerRegistration[];
  const kinds = new Set(registration?.spec.resources?.map(({ kind }) => kind));
  expect(kinds.size).toBeGreaterThan(8);
  for (const kind of kinds) {
    const { plural } = extensionKinds[kind as ExtensionKind];
    expect(await allowed(verbs, `${plural}.extensions.gardener.cloud`), kind).toEqual(verbs);
    expect(await allowed(["patch"], `${plural}.extensions.gardener.cloud/status`), kind).toEqual(["patch"]);
  }
  expect(await allowed(["get"], "configmaps"), "texts of notes").toEqual(["get"]);
  expect(await allowed(["get"], "clusters.extensions.gardener.cloud")).toEqual(["get"]);
  expect(await allowed(["create", "patch"], "leases.coordination.k8s.io", namespace)).toEqual(["create", "patch"]);
});

test("it may do nothing else there", async () => {
  const all = ["get", "list", "watch", "create", "patch", "update", "delete"];
  for (const kind of ["workers", "infrastructures"])
    expect(await allowed(["create", "update", "delete"], `${kind}.extensions.gardener.cloud`), kind).toEqual([]);
  for (const resource of ["pods", "nodes", "deployments.apps", "clusterroles.rbac.authorization.k8s.io"])
    expect(await allowed(all, resource), resource).toEqual([]);
  expect(await allowed(["list", "watch"], "secrets")).toEqual([]);
  expect(await allowed(all, "leases.coordination.k8s.io")).toEqual([]);
  expect(await allowed(all, "managedresources.resources.gardener.cloud")).toEqual([]);
});

const render = async () => await renderProviderChart(namespace, { gardener: { seed: { name: "seed-1" } } });

/** Which of the verbs the provider's account may use, of a resource as kubectl names it. */
async function allowed(verbs: readonly string[], resource: string, within = "shoot--dev--x"): Promise<string[]> {
  const [plain = "", subresource = ""] = resource.split("/");
  const [plural = "", ...group] = plain.split(".");
  const granted: string[] = [];
  for (const verb of verbs) {
    const review = await plane.client.create<KubeObject & { readonly status?: { readonly allowed: boolean } }>({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: {
        user: `system:serviceaccount:${namespace}:provider-local`,
        groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
        resourceAttributes: { namespace: within, verb, group: group.join("."), resource: plural, subresource },
      },
    });
    if (review.status?.allowed === true) granted.push(verb);
  }
  return granted;
}
