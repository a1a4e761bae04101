import { execa } from "execa";
import { afterAll, expect } from "vitest";
import { readNamespaceProject } from "../../src/api/core/namespace-project.ts";
import { Project } from "../../src/api/index.ts";
import { PROJECT_NAME_LABEL, ROLE_LABEL } from "../../src/api/labels.ts";
import { Namespace, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { findBinary } from "../support/binary.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { startTenant } from "../support/tenant.ts";

/* A user of a garden who has all rights in the own project's namespace, and none elsewhere. */
const test = ownClusterTest({ crds: true });
const own = "garden-evil";
let client: KubeClient;
let user: KubeClient;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  for (const [name, project] of Object.entries({ "garden-ops": "ops", [own]: "evil" })) {
    const labels = { [ROLE_LABEL]: "project", [PROJECT_NAME_LABEL]: project };
    await client.apply({ ...typeMeta(Namespace), metadata: { name, labels } });
    await client.apply({ ...typeMeta(Project), metadata: { name: project }, spec: { namespace: name } });
  }
  for (const object of await readManifest("garden/project-labels.yaml")) await client.apply(object);
  user = await startTenant(cluster, { namespace: own, name: "user" });
});
afterAll(async () => await user.close());

const label = (key: string, value: string | null) => ({ metadata: { labels: { [key]: value } } });

test("a user does not say which project the own namespace is of, nor that it is none's, by any path", async ({
  cluster: { kubeconfigFile },
}) => {
  const namespace = refTo(Namespace, { name: own });
  await eventually(async () => {
    await client.patch(namespace, label(PROJECT_NAME_LABEL, "evil")); // until the policy is known
    await expect(user.patch(namespace, label(PROJECT_NAME_LABEL, "ops"))).rejects.toThrow(
      "metadata.labels: project.gardener.cloud/name and gardener.cloud/role say which project the Namespace is of",
    );
  });
  for (const [key, value] of [
    [PROJECT_NAME_LABEL, null],
    [ROLE_LABEL, "garden"],
    [ROLE_LABEL, null],
  ] as const)
    for (const options of [{}, { subresource: "status" } as const])
      await expect(user.patch(namespace, label(key, value), options)).rejects.toThrow("which project the Namespace");
  const found = await user.read(namespace);
  const finalize = async (labels: Readonly<Record<string, string>> | undefined) => {
    const path = `/api/v1/namespaces/${own}/finalize`;
    const words = [
      "--kubeconfig",
      kubeconfigFile,
      "--as",
      `system:serviceaccount:${own}:user`,
      "replace",
      "--raw",
      path,
    ];
    const input = JSON.stringify({ ...found, metadata: { ...found?.metadata, labels } });
    await execa(await findBinary("kubectl"), [...words, "-f", "-"], { input });
  };
  await expect(finalize({ ...found?.metadata.labels, [PROJECT_NAME_LABEL]: "ops" })).rejects.toThrow(
    "which project the Namespace",
  );
  await finalize(found?.metadata.labels);
  await user.patch(namespace, label("team", "a"));
});

test("a namespace is of the project that names it, whatever the namespace says", async () => {
  const projectOfOwn = async () => {
    const { name, project } = await readNamespaceProject(client, own);
    return [name, project?.metadata.name];
  };
  expect(await projectOfOwn()).toEqual(["evil", "evil"]);
  await client.patch(refTo(Namespace, { name: own }), label(PROJECT_NAME_LABEL, "ops"));
  expect(await projectOfOwn()).toEqual(["evil", "evil"]);
});
