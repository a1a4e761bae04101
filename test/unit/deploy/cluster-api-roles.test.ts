import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { writeClusterctlRepository } from "../../../scripts/clusterctl-repository.ts";
import { isNamedObject } from "../../../src/api/schema/meta.ts";
import { clusterApiRoles, rightsIn } from "../../support/cluster-api-rights.ts";

const rights = rightsIn(await clusterApiRoles());

/** The verbs on a kind of objects, in any order. */
const verbsOn = (kind: string) =>
  rights.filter((right) => right.split(" ")[1] === kind).map((right) => right.split(" ")[0]);

it("process cluster-api may write of ShootBootstrapConfigs the status only", () => {
  expect(verbsOn("bootstrap.cluster.x-k8s.io/shootbootstrapconfigs")).toEqual(["list", "watch"]);
  expect(verbsOn("bootstrap.cluster.x-k8s.io/shootbootstrapconfigs/status")).toEqual(["patch"]);
});

it("process cluster-api may write the credentials of ShootClusters", () => {
  const verbs = ["create", "delete", "get", "list", "patch", "watch"];
  expect(verbsOn("security.gardener.cloud/credentialsbindings")).toEqual(verbs);
});

it("process cluster-api may make and take away reservations of domains, and change none", () => {
  expect(verbsOn("perennial.dev/domainreservations")).toEqual(["create", "delete", "get", "list", "watch"]);
});

it("clusterctl gives the process what it needs in the management cluster, and nothing that only a garden has", async () => {
  const given = rightsIn(await installedByClusterctl());
  expect(given).toEqual(rightsIn(await clusterApiRoles(["management"])));
  const ofGarden = given.filter((right) => / (core|security)\.gardener\.cloud\/|domainreservations/.test(right));
  expect(ofGarden).toEqual([]);
  expect(given.filter((right) => right.endsWith(" /secrets"))).toEqual(
    ["create", "list", "patch", "watch"].map((verb) => `${verb} /secrets`),
  );
});

it("the garden gives the process nothing that only a management cluster has", async () => {
  const given = rightsIn(await clusterApiRoles(["garden"]));
  expect(given.filter((right) => right.includes("cluster.x-k8s.io"))).toEqual([]);
});

/** What `clusterctl init` applies for the provider that brings the process. */
async function installedByClusterctl() {
  const folder = await mkdtemp(join(tmpdir(), "perennial-clusterctl-"));
  try {
    await writeClusterctlRepository(folder);
    const file = join(folder, "control-plane-perennial/v0.1.0/control-plane-components.yaml");
    const documents = parseAllDocuments(await readFile(file, "utf8"));
    return documents.map((document) => document.toJS() as unknown).filter(isNamedObject);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
