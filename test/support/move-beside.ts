import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import {
  Cluster,
  ClusterEndpoint,
  CLUSTERCTL_MOVE_LABEL,
  EndpointRecord,
  Machine,
} from "../../src/api/cluster-api/index.ts";
import { CredentialsBinding, DNSRecord, DomainReservation, Shoot } from "../../src/api/index.ts";
import { GARDEN_CREDENTIALS_LABEL } from "../../src/api/labels.ts";
import { Node, refTo, Secret, typeMeta, define } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { shootTemplate } from "./cluster-api-objects.ts";
import { contractKind } from "./contract-kind.ts";
import type { ControlPlane } from "./control-plane.ts";
import { applyDnsCredentials, recordOf, startDnsExtension } from "./endpoint-record-lab.ts";
import { eventually } from "./eventually.ts";
import type { MovePoint } from "./clusterctl-move.ts";
import { moveFromGardenTest, moveTest, type MoveLab } from "./move-lab.ts";
import { namespace, type Management } from "./move-management.ts";
import {
  deleteCluster,
  expectNothing,
  expectShootCluster,
  key,
  makeCluster,
  movedKinds,
  PATIENCE,
  shootOf,
} from "./moved-cluster.ts";
import { startNameServer, type TestNameServer } from "./name-server.ts";
import { objectsIn, saidBy } from "./objects-in.ts";
import { playControlPlane, playedCluster, playedKind } from "./played-control-plane.ts";
import { playMachine } from "./played-machines.ts";

/** A Cluster of others, on a machine of theirs, whose API server has a name of ours. */
const named = { namespace, name: "named" };
const host = `${named.name}.perennial.test`;
const machine = { name: "named-0", address: "127.0.0.7" };
const domain = "moved.example.com";
const copy = { namespace, name: `cluster-api-${key.name}` };

/** Kinds of others that go along. */
const played = [
  { apiVersion: `${playedKind.apiGroup}/v1alpha1`, kind: playedKind.kind },
  { apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1", kind: "PlayedMachine" },
];

/** In both management clusters, a DNS extension and the kinds of others' providers; and one name server. */
export const besideTest = withDns(moveTest);

/** The same; the first management cluster is the garden itself. */
export const besideFromGardenTest = withDns(moveFromGardenTest);

function withDns(moves: typeof moveTest) {
  return moves.extend("dns", { scope: "file" }, async ({ lab }, { onCleanup }) => {
    const dns = await startNameServer();
    const running: { stop(): Promise<void> }[] = [dns];
    onCleanup(async () => {
      for (const one of running.reverse()) await one.stop();
    });
    for (const { cluster } of lab.managements) {
      await define(cluster.client, await readManifest("crds/extensions.gardener.cloud_dnsrecords.yaml"));
      await define(cluster.client, [contractKind("controlplane", "PlayedControlPlane")]);
      await define(cluster.client, [contractKind("infrastructure", "PlayedMachine")]);
      running.push(startDnsExtension(cluster.client));
    }
    return dns;
  });
}

/**
 * Moves all Clusters from the first management cluster to the other and back, once for each point. After each move they are at home there
 * and gone here, and the garden is as before. Answers with where they are in the end, and where they are not.
 */
export async function moveThereAndBack(
  { managements, garden, move }: MoveLab,
  points: readonly (MovePoint | undefined)[],
): Promise<{ readonly home: Management; readonly left: Management }> {
  let [from, to] = managements;
  const before = await gardenOf(garden);
  for (const point of points) {
    const died = await move(from, to, point);
    const when = point === undefined ? "plainly" : `after SIGKILL ${point.moment} ${died}`;
    if (point !== undefined) expect(died, String(point.write)).toBeDefined();
    await playOthers(to, garden);
    await expectBesideAtHome(to, when);
    await expectBesideGone(from, when);
    expect(await gardenOf(garden), when).toEqual(before);
    [from, to] = [to, from];
  }
  return { home: from, left: to };
}

/**
 * Two Clusters of one namespace: a Shoot's, whose infrastructure brings credentials and the endpoint (scenarios 2 and 3), and one of others
 * with an EndpointRecord.
 */
export async function makeBeside(management: Management, garden: ControlPlane, dns: TestNameServer): Promise<void> {
  const { client } = management.cluster;
  const data = { user: Buffer.from("me").toString("base64") };
  const labels = { [GARDEN_CREDENTIALS_LABEL]: "true", [CLUSTERCTL_MOVE_LABEL]: "" };
  await client.create({ ...typeMeta(Secret), metadata: { namespace, name: "account", labels }, data });
  const { dns: _, credentialsBindingName: __, ...spec } = shootTemplate(key.name).spec;
  const credentials = { providerType: "local", secretRef: { name: "account" } };
  await makeCluster(management, garden, {
    infrastructure: { credentials, endpoint: { domain }, region: "local" },
    controlPlane: { shootTemplate: { spec }, endpointFrom: "Infrastructure" },
    address: `https://api.${domain}`,
  });
  await applyDnsCredentials(client, namespace, dns);
  await client.patch(refTo(Secret, { namespace, name: "dns" }), {
    metadata: { labels: { [CLUSTERCTL_MOVE_LABEL]: "" } },
  });
  await garden.client.create({
    ...typeMeta(Node),
    metadata: { name: machine.name },
    spec: { providerID: `played:///${machine.name}` },
  });
  await client.create(playedCluster(named));
  await client.create(recordOf(named));
  await playOthers(management, garden);
}

/** What the providers of others report wherever their objects are: clusterctl takes no status along. */
export async function playOthers({ cluster }: Management, garden: ControlPlane): Promise<void> {
  await playControlPlane({ ...garden, client: cluster.client }, named);
  await playMachine(cluster.client, named, machine);
}

/** What must not change: the Shoot, and what it has in the garden. */
export async function gardenOf(garden: ControlPlane) {
  const { client } = garden;
  const held = [
    await client.read(CredentialsBinding, copy),
    await client.read(Secret, copy),
    await client.read(DomainReservation, { name: domain }),
  ];
  expect(held.map((one) => one?.kind)).toEqual(["CredentialsBinding", "Secret", "DomainReservation"]);
  return [await shootOf(garden), held.map((one) => one?.metadata.uid)];
}

/** Both Clusters live here, with all that is theirs; `when` is what a failure says. */
export async function expectBesideAtHome(management: Management, when: string): Promise<void> {
  const { client } = management.cluster;
  await eventually(async () => {
    await expectShootCluster(management, when);
    const endpoints = await client.list(ClusterEndpoint, { namespace });
    expect(endpoints.map(({ metadata }) => metadata.name).sort(), when).toEqual([
      `${key.name}-infrastructure`,
      named.name,
    ]);
    expect(endpoints.map(saidBy)).toMatchObject([{ Surfaced: "True" }, { Surfaced: "True" }]);
    const record = await client.read(EndpointRecord, named);
    expect(saidBy(record), when).toMatchObject({ Published: "True", Paused: "False" });
    expect(record?.spec.published, when).toEqual({ recordType: "A", values: [machine.address] });
    const dnsRecord = await client.read(DNSRecord, named);
    expect(dnsRecord?.status?.lastOperation, when).toMatchObject({ state: "Succeeded" });
  }, PATIENCE);
}

/** Nothing of either Cluster is here; `when` is what a failure says. */
export const expectBesideGone = async (management: Management, when: string): Promise<void> =>
  await expectNothing(management, when, [DNSRecord, ...played] as never);

/** Deletes both Clusters, and expects that neither the garden nor the DNS has anything of them, nor the management cluster but what is others'. */
export async function deleteBeside(management: Management, garden: ControlPlane, dns: TestNameServer): Promise<void> {
  const { client } = management.cluster;
  await client.remove(refTo(Cluster, named));
  await deleteCluster(management, garden);
  await eventually(async () => {
    const here = await objectsIn(client, [...movedKinds.filter((kind) => kind !== Machine), DNSRecord]);
    const left = [...here, ...(await objectsIn(garden.client, [Shoot, CredentialsBinding, DomainReservation]))];
    expect(left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
    expect(await garden.client.read(Secret, copy)).toBeUndefined();
    expect(await resolve(dns)).toEqual([]);
  }, 60_000);
}

const resolve = async (dns: TestNameServer): Promise<readonly string[]> =>
  await queryRecords(dns.server, { name: host, type: "A" });

/** Asks for the name ten times a second until it is told to end, and then says each answer that was another. */
export function watchName(dns: TestNameServer): { end(): Promise<{ asked: number; wrong: readonly string[] }> } {
  const stopping = new AbortController();
  const wrong: string[] = [];
  let asked = 0;
  const asking = (async () => {
    while (!stopping.signal.aborted) {
      const answer = await resolve(dns).catch(() => ["no answer"]);
      asked += 1;
      if (answer.join() !== machine.address) wrong.push(`[${answer.join()}]`);
      await sleep(100);
    }
  })();
  return {
    async end() {
      stopping.abort();
      await asking;
      return { asked, wrong };
    },
  };
}
