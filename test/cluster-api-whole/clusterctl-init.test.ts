import { execFile } from "node:child_process";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { stringify } from "yaml";
import { writeClusterctlRepository } from "../../scripts/clusterctl-repository.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { CustomResourceDefinition, defineKind, Deployment, define } from "../../src/kube/index.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { CORE_NAMESPACE, readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { findBinary } from "../support/binary.ts";
import { ownClusterTest } from "../support/cluster-test.ts";

/**
 * A management cluster that has core already, as `clusterctl init` leaves it: its definitions and its line in the inventory. Of
 * cert-manager, which clusterctl asks for first, it has the two kinds that clusterctl looks at; ours needs no certificate of it.
 */
const test = ownClusterTest().extend("init", { scope: "file" }, async ({ cluster }, { onCleanup }) => {
  const { definitions, rights, inventory } = await readCoreObjects();
  await define(cluster.client, [...definitions, ...["Issuer", "Certificate"].map(certManagerKind)]);
  for (const object of [...rights, inventory]) await cluster.client.apply(object);
  const folder = await mkdtemp(join(tmpdir(), "perennial-clusterctl-"));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  await writeClusterctlRepository(folder);
  await writeCoreRepository(folder);
  const binary = await findBinary("clusterctl");
  return async (variables: Readonly<Record<string, string>>): Promise<string> => {
    const { PATH = "", HOME = "" } = process.env;
    const env = { PATH, HOME, XDG_CONFIG_HOME: folder, CLUSTERCTL_DISABLE_VERSIONCHECK: "true", ...variables };
    const providers = ["--control-plane", "--infrastructure", "--bootstrap"].flatMap((flag) => [flag, "perennial"]);
    const where = ["--config", join(folder, "clusterctl.yaml"), "--kubeconfig", cluster.kubeconfigFile];
    return (await promisify(execFile)(binary, ["init", ...where, ...providers], { env, timeout: 60_000 })).stderr;
  };
});

test("clusterctl init installs our three providers beside core, and its Deployment names the garden's kubeconfig", async ({
  cluster,
  init,
}) => {
  const { client } = cluster;
  expect(await init({ GARDEN_KUBECONFIG: "/garden/kubeconfig" })).toContain("Skipping installing cert-manager");
  const installed = await client.list(Provider);
  expect(installed.map(({ type, providerName, version }) => `${type} ${providerName} ${version}`).sort()).toEqual([
    "BootstrapProvider perennial v0.1.0",
    "ControlPlaneProvider perennial v0.1.0",
    `CoreProvider cluster-api v${versions.clusterApi}`,
    "InfrastructureProvider perennial v0.1.0",
  ]);
  const names = (await client.list(CustomResourceDefinition)).map(({ metadata }) => metadata.name);
  expect(names).toContain("shootcontrolplanes.controlplane.cluster.x-k8s.io");
  expect(names).toContain("shootclusters.infrastructure.cluster.x-k8s.io");
  expect(names).toContain("shootbootstrapconfigs.bootstrap.cluster.x-k8s.io");
  expect(names).toContain("clusterendpoints.cluster.x-k8s.io");
  const deployment = await client.read(Deployment, { namespace: "perennial", name: "cluster-api" });
  expect(deployment?.spec).toMatchObject({
    template: {
      spec: {
        containers: [
          {
            env: expect.arrayContaining([
              { name: "PERENNIAL_GARDEN_KUBECONFIG", value: "/garden/kubeconfig" },
              { name: "PERENNIAL_MANAGEMENT_KUBECONFIG", value: "/kubeconfigs/in-cluster.yaml" },
            ]),
          },
        ],
      },
    },
  });
});

const inventoryKind = { apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3" } as const;

/** A line of clusterctl's inventory. */
interface Provider extends KubeObject {
  readonly providerName: string;
  readonly type: string;
  readonly version: string;
}

const Provider = defineKind<Provider>({
  ...inventoryKind,
  kind: "Provider",
  scope: "Namespaced",
});

/** clusterctl asks the repository of each provider that is installed which contract that keeps: core's is on the internet. */
async function writeCoreRepository(folder: string): Promise<void> {
  const release = join(folder, "cluster-api", `v${versions.clusterApi}`);
  const [major, minor] = versions.clusterApi.split(".").map(Number);
  await mkdir(release, { recursive: true });
  const metadata = { ...inventoryKind, kind: "Metadata", releaseSeries: [{ major, minor, contract: "v1beta2" }] };
  await writeFile(join(release, "metadata.yaml"), stringify(metadata));
  const url = join(release, "core-components.yaml");
  await writeFile(url, stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: CORE_NAMESPACE } }));
  await appendFile(join(folder, "clusterctl.yaml"), `  - name: cluster-api\n    type: CoreProvider\n    url: ${url}\n`);
}

/** One of cert-manager's kinds, with any fields. */
function certManagerKind(kind: string): KubeObject {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.cert-manager.io` },
    spec: {
      ...{ group: "cert-manager.io", scope: "Namespaced", names: { kind, plural } },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}
