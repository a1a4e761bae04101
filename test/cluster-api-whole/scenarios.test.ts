import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  Cluster,
  ClusterEndpoint,
  EndpointRecord,
  Machine,
  MachinePool,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { CredentialsBinding, DNSRecord, DomainReservation, Shoot, type KubeObject } from "../../src/api/index.ts";
import { parseKubeconfig, refTo, Secret, type Kind } from "../../src/kube/index.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { clusterApiEnvironment } from "../support/cluster-api-setup.ts";
import { conditionOf } from "../support/cluster-conditions.ts";
import { openClusterctlRepository } from "../support/clusterctl-repository.ts";
import { findTestShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import {
  clusterNamespace as namespace,
  openManagementCluster,
  type ManagementCluster,
} from "../support/management-cluster.ts";
import { commandBlocksBelow } from "../support/pages.ts";
import { findShootRemains } from "../support/shoot-remains.ts";

/**
 * Scenarios 2 and 3 on real machines, side by side: Clusters of the templates that `clusterctl generate` fills in, and then a name that an
 * EndpointRecord gives one of them, by the commands of the page. What users see is asked of clusterctl and kubectl.
 */
let local: LocalEnvironment;
let management: ManagementCluster;
const shoots: TestShoot[] = [];
const told: string[] = [];

beforeAll(async () => {
  local = await localEnvironment(clusterApiEnvironment, { clusterApi: true });
  management = await openManagementCluster(local);
  const [, credentials = ""] = commandBlocksBelow("docs/cluster-api.md", "With clusterctl");
  await management.follow(credentials);
  const repository = await openClusterctlRepository();
  try {
    for (const [name, { flavor, ...variables }] of Object.entries(clusters)) {
      const target = ["--target-namespace", namespace, "--kubernetes-version", "v1.34.4"];
      const chosen = ["--infrastructure", "perennial:v0.1.0", "--flavor", flavor, "--worker-machine-count", "1"];
      const args = ["cluster", name, ...target, ...chosen];
      const all = { NODE_CIDR: local.environment.network, DOMAIN: domainOf(name), ...variables };
      await management.kubectl(["apply", "-f", "-"], await repository.generate(args, all));
    }
  } finally {
    await repository.close();
  }
});

afterAll(async () => {
  console.log(told.join("\n"));
  await management?.close();
  await local?.close();
});

/** The Clusters, each with its flavor of template, and networks that nothing else in the environment has. */
const clusters = {
  reserved: { flavor: "endpoint", POD_CIDR: "100.83.0.0/16", SERVICE_CIDR: "100.93.0.0/16" },
  beside: {
    ...{ flavor: "infrastructure", CREDENTIALS_SECRET: "account" },
    ...{ POD_CIDR: "100.82.0.0/16", SERVICE_CIDR: "100.92.0.0/16" },
  },
} as const;

test("the Cluster with its endpoint first has it, and its domain, before its Shoot has an API server", async () => {
  const cluster = await eventually(async () => {
    const found = await read(Cluster, "reserved");
    expect(found?.spec.controlPlaneEndpoint).toEqual({ host: hostOf("reserved"), port: 443 });
    return found;
  }, 60_000);
  expect(cluster?.status?.initialization?.controlPlaneInitialized).not.toBe(true);
  const reservation = await local.gardenClient.read(DomainReservation, { name: domainOf("reserved") });
  expect(reservation?.spec.shootRef).toEqual({ namespace, name: "reserved" });
});

describe.each([
  ["of flavor endpoint", "reserved", "ShootCluster"],
  ["of flavor infrastructure", "beside", "ShootControlPlane"],
] as const)("a Cluster %s", (_, name, owner) => {
  test("becomes available, as clusterctl says, at the one endpoint that its scenario brings", async () => {
    const begin = performance.now();
    const available = async () => await conditionOf(local.gardenClient, { namespace, name }, "Available");
    await eventually(async () => expect(await available()).toMatchObject({ status: "True" }), 300_000);
    told.push(`${name} is available ${((performance.now() - begin) / 1_000).toFixed(1)} s after the test before it`);
    shoots.push(await findTestShoot(local, name));
    const described = await management.clusterctl("describe", "cluster", name);
    told.push(described.replaceAll(/ +$/gm, ""));
    expect(described).toMatch(new RegExp(`^Cluster garden-dev/${name} +1/1 +1 +1 +1 +True +Available `, "m"));
    expect(described).toMatch(new RegExp(`ShootCluster garden-dev/${name} +True +Ready `));
    expect(described).toMatch(new RegExp(`ShootControlPlane garden-dev/${name}, v1\\.34\\.4 +True +Available `));
    const [endpoint, ...others] = (await inNamespace(ClusterEndpoint)).filter(({ spec }) => spec.cluster === name);
    expect(others).toEqual([]);
    expect(endpoint?.metadata.ownerReferences).toMatchObject([{ kind: owner, name }]);
    const zones = ["get", "cluster", name, "--output", "jsonpath={.status.failureDomains[*].name}"];
    expect(await management.kubectl(zones)).toBe("0");
  });

  test("is opened under the endpoint's name by the kubeconfig that clusterctl gives, and its pool has the real kubelet's Node", async () => {
    expect(await kubeconfigOf(name)).toEqual({ host: hostOf(name), port: "", serverName: undefined });
    const pool = await eventually(async () => {
      const found = await read(MachinePool, `${name}-worker`);
      expect(found?.status).toMatchObject({ phase: "Running", replicas: 1, readyReplicas: 1 });
      return found;
    }, 120_000);
    const [node, ...others] = await management.nodes(name);
    expect(others).toEqual([]);
    expect(node?.status).toMatchObject({ nodeInfo: { kubeletVersion: `v${versions.kubernetes}` } });
    expect(pool?.status?.nodeRefs).toMatchObject([{ name: node?.metadata.name, uid: node?.metadata.uid }]);
    expect((await local.machines.list()).map((machine) => machine.name)).toContain(node?.metadata.name);
  });
});

test("the Shoot with something beside it acts with the copy of its Cluster's credentials, in the region and zone that the infrastructure says", async () => {
  const copy = "cluster-api-beside";
  const shoot = await read(Shoot, "beside");
  expect(shoot?.spec).toMatchObject({ credentialsBindingName: copy, region: "local" });
  expect(shoot?.spec.provider.workers).toMatchObject([{ zones: ["0"] }]);
  expect((await read(CredentialsBinding, copy))?.credentialsRef).toMatchObject({ kind: "Secret", name: copy });
  expect((await read(Secret, copy))?.data).toEqual((await read(Secret, "account"))?.data);
});

describe("a name of an EndpointRecord, by the commands of the page", () => {
  const [making = "", ending = ""] = commandBlocksBelow("docs/cluster-api.md", "A name in a local environment");

  test("is the Cluster's endpoint, and a client of TLS opens its API server by that name and the environment's DNS server", async () => {
    const printed = await management.follow(making);
    told.push(printed);
    const [node] = await management.nodes("reserved");
    expect(printed).toMatch(new RegExp(`^${node?.metadata.name} +Ready `, "m"));
    const [address] = await addressesOf(hostOf("reserved"));
    expect(address).toBeDefined();
    expect(await addressesOf(ownName())).toEqual([address]);
    expect((await read(Cluster, "reserved"))?.spec.controlPlaneEndpoint).toEqual({ host: ownName(), port: 443 });
    expect(await kubeconfigOf("reserved")).toEqual({ host: ownName(), port: "", serverName: hostOf("reserved") });
  });

  test("leaves the DNS with its record, and the Cluster has the endpoint of its infrastructure again", async () => {
    await management.follow(ending);
    await eventually(async () => {
      expect((await read(Cluster, "reserved"))?.spec.controlPlaneEndpoint?.host).toBe(hostOf("reserved"));
      expect(await kubeconfigOf("reserved")).toEqual({ host: hostOf("reserved"), port: "", serverName: undefined });
    });
    expect(await addressesOf(ownName())).toEqual([]);
    expect(await management.inCluster("reserved", ["get", "--raw", "/readyz"])).toBe("ok");
    expect([...(await inNamespace(EndpointRecord)), ...(await inNamespace(Machine))]).toEqual([]);
    expect([await read(DNSRecord, "reserved"), await read(Secret, "dns")]).toEqual([undefined, undefined]);
  });
});

test("both Clusters are deleted with their Shoots, domain and credentials, and nothing is left of them anywhere", async () => {
  const names = Object.keys(clusters);
  const begin = performance.now();
  await management.kubectl(["delete", "cluster", ...names, "--wait=false"]);
  await eventually(async () => expect(await inNamespace(Cluster)).toEqual([]), 300_000);
  told.push(`deleted in ${((performance.now() - begin) / 1_000).toFixed(1)} s`);
  expect(shoots.map(({ name }) => name)).toEqual(names);
  for (const shoot of shoots)
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 60_000);
  await management.kubectl(["delete", "secret", "account"]);
  const kinds: readonly Kind[] = [Shoot, ShootCluster, ShootControlPlane, ShootMachinePool, MachinePool];
  const more: readonly Kind[] = [ClusterEndpoint, CredentialsBinding, Secret];
  const left = await Promise.all([...kinds, ...more].map((kind) => inNamespace(kind)));
  const reservations = await local.gardenClient.list(DomainReservation);
  expect([...left.flat(), ...reservations].filter(isTheirs)).toEqual([]);
});

const isTheirs = ({ metadata }: KubeObject): boolean =>
  Object.keys(clusters).some((name) => metadata.name.includes(name));

const read = <T extends KubeObject>(kind: Kind<T, "Namespaced">, name: string) =>
  local.gardenClient.read(refTo(kind, { namespace, name }));

const inNamespace = <T extends KubeObject>(kind: Kind<T>) => local.gardenClient.list(kind, { namespace });

const domainOf = (name: string): string => `${name}.dev.${local.environment.domain}`;

const hostOf = (name: string): string => `api.${domainOf(name)}`;

/** The name that the page gives by a record. */
const ownName = (): string => `kubernetes.${local.environment.domain}`;

const addressesOf = (name: string) =>
  queryRecords({ address: local.environment.gateway, key: { file: "" } }, { name, type: "A" });

/** Where the kubeconfig leads that clusterctl gives, and by which name it checks the certificate where that is another. */
async function kubeconfigOf(name: string) {
  const { server, cluster } = parseKubeconfig(await management.clusterctl("get", "kubeconfig", name));
  const { hostname: host, port } = new URL(server);
  return { host, port, serverName: cluster["tls-server-name"] };
}
