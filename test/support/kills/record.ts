import { expect } from "vitest";
import { Cluster, ClusterEndpoint, EndpointRecord, Machine } from "../../../src/api/cluster-api/index.ts";
import { DNSRecord } from "../../../src/api/index.ts";
import { parseKubeconfig, refTo, renderKubeconfig, type ObjectRef } from "../../../src/kube/index.ts";
import { queryRecords } from "../../../src/provider-local/dns/name-server.ts";
import { applyDnsCredentials, recordOf } from "../endpoint-record-lab.ts";
import { eventually } from "../eventually.ts";
import { playControlPlane, playedCluster } from "../played-control-plane.ts";
import { playMachine } from "../played-machines.ts";
import type { KillLab } from "./lab.ts";
import { PATIENCE, type KillScenario } from "./life.ts";
import { expectSaid, namespace } from "./shoots.ts";

/** A third party's endpoint: a DNS name for two machines, of which one serves; the cluster's own API server stands for the Cluster's. */
export const record: KillScenario = {
  title: "a Cluster with an EndpointRecord",
  shoots: 0,
  async make(lab, name) {
    const { cluster, dns } = lab;
    const { client } = cluster;
    const key = { namespace, name };
    await applyDnsCredentials(client, namespace, dns);
    await playControlPlane({ ...cluster, kubeconfig: kubeconfigOf(lab, name) }, key);
    await client.create(playedCluster(key));
    await client.create(recordOf(key, { port: portOf(lab) }));
    const named = async () => (await client.read(Cluster, key))?.spec.controlPlaneEndpoint?.host === hostOf(name);
    await eventually(named, PATIENCE);
    const [dead, serving] = machinesOf(name);
    await playMachine(client, key, { name: dead, address: "127.0.0.9" });
    await playMachine(client, key, { name: serving, address: "127.0.0.1" });
  },
  async expectMade(lab, name) {
    const { client } = lab.cluster;
    const [key, at] = [
      { namespace, name },
      { host: hostOf(name), port: portOf(lab) },
    ];
    const endpointRecord = await client.read(EndpointRecord, key);
    expectSaid(endpointRecord, { Serving: "True", Published: "True", Ready: "True" });
    expect(endpointRecord?.status?.addresses).toEqual(["127.0.0.1"]);
    expect((await client.read(DNSRecord, key))?.spec).toMatchObject({ class: "garden", values: ["127.0.0.1"] });
    const endpoint = await client.read(ClusterEndpoint, key);
    expect(endpoint?.spec).toMatchObject({ cluster: name, ...at });
    expect(endpoint?.metadata.ownerReferences).toMatchObject([{ kind: "EndpointRecord", controller: true }]);
    expectSaid(endpoint, { Surfaced: "True" });
    expect((await client.read(Cluster, key))?.spec.controlPlaneEndpoint).toEqual(at);
    expect(await answers(lab, name)).toEqual(["127.0.0.1"]);
  },
  async remove({ cluster: { client } }, name) {
    for (const machine of machinesOf(name)) await client.remove(refTo(Machine, { namespace, name: machine }));
    const gone = async (machine: string) => (await client.read(Machine, { namespace, name: machine })) === undefined;
    for (const machine of machinesOf(name)) await eventually(() => gone(machine), PATIENCE); // as a provider of control planes does it
    await client.remove(refTo(Cluster, { namespace, name }));
  },
  async expectGone(lab, name) {
    const { client } = lab.cluster;
    const key = { namespace, name };
    const refs: readonly ObjectRef[] = [
      ...[refTo(Cluster, key), refTo(EndpointRecord, key), refTo(ClusterEndpoint, key), refTo(DNSRecord, key)],
    ];
    for (const ref of refs) expect(await client.read(ref), ref.kind).toBeUndefined();
    expect(await answers(lab, name), "in the DNS").toEqual([]);
  },
};

const machinesOf = (name: string): readonly [string, string] => [`${name}-dead`, `${name}-serving`];

const hostOf = (name: string): string => `${name}.perennial.test`;

const portOf = ({ cluster: { client } }: KillLab): number => Number(new URL(client.server).port);

const answers = async ({ dns }: KillLab, name: string): Promise<readonly string[]> =>
  await queryRecords(dns.server, { name: hostOf(name), type: "A" });

/** The API server has a certificate for localhost. */
function kubeconfigOf(lab: KillLab, name: string): string {
  const authority = parseKubeconfig(lab.cluster.kubeconfig).cluster["certificate-authority-data"];
  const ca = Buffer.from(String(authority), "base64").toString();
  const server = `https://${hostOf(name)}:${portOf(lab)}`;
  return renderKubeconfig({ server, ca, token: "none", tlsServerName: "localhost" });
}
