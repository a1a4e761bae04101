import { expect } from "vitest";
import { Cluster, ClusterEndpoint, ShootCluster, ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { DomainReservation, Shoot } from "../../../src/api/index.ts";
import { typeMeta } from "../../../src/kube/index.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf, shootTemplate } from "../cluster-api-objects.ts";
import type { KillScenario } from "./life.ts";
import * as shoots from "./shoots.ts";

const { namespace, expectSaid } = shoots;

const domainOf = (name: string): string => `${name}.example.com`;

/** Scenario 3 of the proposal of flexible endpoints: the infrastructure reserves a domain and brings the endpoint before there is a Shoot. */
export const endpointFirst: KillScenario = {
  title: "a Cluster whose endpoint is first",
  shoots: 1,
  async make(lab, name) {
    const { client } = lab.cluster;
    const { dns: _, ...spec } = shootTemplate(name).spec;
    const endpoint = { domain: domainOf(name) };
    await client.create({ ...typeMeta(ShootCluster), metadata: { namespace, name }, spec: { endpoint } });
    await client.create(controlPlaneOf(name, { shootTemplate: { spec }, endpointFrom: "Infrastructure" }));
    await client.create(clusterOf(name, { infrastructureRef: infrastructureRefOf(name) }));
    await shoots.createPool(lab, name);
    await shoots.playFlow(lab, name, `https://api.${domainOf(name)}`);
  },
  async expectMade(lab, name) {
    const { client } = lab.cluster;
    const [key, domain] = [{ namespace, name }, domainOf(name)];
    await shoots.expectShootCluster(lab, name);
    expect((await client.read(DomainReservation, { name: domain }))?.spec).toEqual({ domain, shootRef: key });
    const endpoint = await client.read(ClusterEndpoint, { namespace, name: `${name}-infrastructure` });
    expect(endpoint?.spec).toMatchObject({ cluster: name, host: `api.${domain}`, port: 443 });
    expectSaid(endpoint, { Surfaced: "True" });
    expect((await client.read(Cluster, key))?.spec.controlPlaneEndpoint).toEqual({ host: `api.${domain}`, port: 443 });
    expect((await client.read(Shoot, key))?.spec.dns).toEqual({ domain });
    expect((await client.read(ShootControlPlane, key))?.spec.controlPlaneEndpoint).toBeUndefined();
  },
  expectSettled: shoots.expectAvailable,
  remove: shoots.removeShootCluster,
  async expectGone(lab, name) {
    await shoots.expectShootClusterGone(lab, name);
    expect(await lab.cluster.client.read(DomainReservation, { name: domainOf(name) })).toBeUndefined();
  },
};
