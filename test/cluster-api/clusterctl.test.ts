import { test as base, expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { ShootCluster, ShootControlPlane } from "../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { openClusterctlRepository } from "../support/clusterctl-repository.ts";

/** Runs the real clusterctl against a local repository made from deploy/cluster-api, and returns the objects that it prints. */
// eslint-disable-next-line no-empty-pattern -- vitest reads here which other fixtures are needed
const test = base.extend("generate", async ({}, { onCleanup }) => {
  const repository = await openClusterctlRepository();
  onCleanup(() => repository.close());
  const variables = { DOMAIN: "mine.dev.perennial.test", CREDENTIALS_SECRET: "account" };
  return async (...args: string[]): Promise<KubeObject[]> =>
    parseAllDocuments(await repository.generate(args, variables)).map((document) => document.toJS() as KubeObject);
});

const kindsOf = (objects: readonly KubeObject[]) => objects.map(({ kind }) => kind).sort();

test.for([
  [
    "--control-plane",
    [
      "clusterendpoints.cluster.x-k8s.io",
      "endpointrecords.perennial.dev",
      "shootcontrolplanes.controlplane.cluster.x-k8s.io",
      "shootcontrolplanetemplates.controlplane.cluster.x-k8s.io",
    ],
  ],
  [
    "--infrastructure",
    [
      "shootclusters.infrastructure.cluster.x-k8s.io",
      "shootclustertemplates.infrastructure.cluster.x-k8s.io",
      "shootmachinepools.infrastructure.cluster.x-k8s.io",
      "shootmachinepooltemplates.infrastructure.cluster.x-k8s.io",
    ],
  ],
  [
    "--bootstrap",
    ["shootbootstrapconfigs.bootstrap.cluster.x-k8s.io", "shootbootstrapconfigtemplates.bootstrap.cluster.x-k8s.io"],
  ],
] as const)("clusterctl generates the components of provider %s", async ([flag, names], { generate }) => {
  const objects = await generate("provider", flag, "perennial");
  const definitions = objects.filter(({ kind }) => kind === "CustomResourceDefinition");
  expect(definitions.map(({ metadata }) => metadata.name).sort()).toEqual(names);
  for (const { metadata } of definitions) expect(metadata.labels).toHaveProperty(["clusterctl.cluster.x-k8s.io"]);
  expect(kindsOf(objects).filter((kind) => kind === "Deployment")).toHaveLength(flag === "--control-plane" ? 1 : 0);
});

const chosen = ["--kubernetes-version", "v1.34.4", "--target-namespace", "garden-dev", "--worker-machine-count", "3"];
const ours = ["Cluster", "MachinePool", "ShootControlPlane", "ShootMachinePool"];
const withInfrastructure = [...ours, "ShootCluster"].sort();
const place = { region: "local", zones: ["0"] };

test.for([
  ["without a flavor makes a Cluster without infrastructure", [], ours, undefined],
  [
    "of flavor infrastructure makes a Cluster beside it, which brings its credentials",
    ["--flavor", "infrastructure"],
    withInfrastructure,
    { ...place, credentials: { providerType: "local", secretRef: { name: "account" } } },
  ],
  [
    "of flavor endpoint makes a Cluster whose infrastructure brings the endpoint",
    ["--flavor", "endpoint"],
    withInfrastructure,
    { ...place, endpoint: { domain: "mine.dev.perennial.test" } },
  ],
] as const)("a template %s", async ([, flavor, kinds, infrastructure], { generate }) => {
  const objects = await generate("cluster", "mine", "--infrastructure", "perennial:v0.1.0", ...chosen, ...flavor);
  expect(kindsOf(objects)).toEqual(kinds);
  const pool = objects.find(({ kind }) => kind === "MachinePool");
  expect(pool?.["spec"]).toMatchObject({ clusterName: "mine", replicas: 3 });
  for (const kind of [ShootCluster, ShootControlPlane])
    for (const object of objects.filter((one) => one.kind === kind.kind))
      expect(() => kind.parse(object)).not.toThrow();
  expect(objects.find(({ kind }) => kind === ShootCluster.kind)?.["spec"]).toEqual(infrastructure);
});

test("a template of flavor topology makes a Cluster of a class, and brings the class with its templates", async ({
  generate,
}) => {
  const flavor = ["--infrastructure", "perennial:v0.1.0", "--flavor", "topology"];
  const objects = await generate("cluster", "mine", ...chosen, ...flavor);
  const templates = ["ShootBootstrapConfigTemplate", "ShootControlPlaneTemplate", "ShootMachinePoolTemplate"];
  expect(kindsOf(objects)).toEqual(["Cluster", "ClusterClass", ...templates]);
  expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(["garden-dev"]));
  const cluster = objects.find(({ kind }) => kind === "Cluster");
  expect(cluster?.["spec"]).toMatchObject({
    topology: { classRef: { name: "shoot" }, version: "v1.34.4", workers: { machinePools: [{ replicas: 3 }] } },
  });
});
