import { expect } from "vitest";
import { Cluster, ClusterEndpoint, ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { ENDPOINT_READY_CONDITION } from "../../../src/api/names.ts";
import { clusterOf, controlPlaneOf } from "../cluster-api-objects.ts";
import type { KillScenario } from "./life.ts";
import * as shoots from "./shoots.ts";

const { namespace, expectSaid } = shoots;

/** Scenario 1 of the proposal of flexible endpoints: the service does all. */
export const managed: KillScenario = {
  title: "a Cluster without infrastructure",
  shoots: 1,
  async make(lab, name) {
    const { client } = lab.cluster;
    for (const object of [controlPlaneOf(name), clusterOf(name)]) await client.create(object);
    await shoots.createPool(lab, name);
    await shoots.playFlow(lab, name, client.server);
  },
  async expectMade(lab, name) {
    const { client, tokenKubeconfig } = lab.cluster;
    await shoots.expectShootCluster(lab, name);
    const { hostname: host, port } = new URL(client.server);
    const at = { host, port: Number(port) };
    const controlPlane = await client.read(ShootControlPlane, { namespace, name });
    expect(controlPlane?.spec.controlPlaneEndpoint).toEqual(at);
    expectSaid(controlPlane, { EndpointPublished: "True" });
    const endpoint = await client.read(ClusterEndpoint, { namespace, name: `${name}-control-plane` });
    expect(endpoint?.spec).toMatchObject({ cluster: name, ...at });
    expectSaid(endpoint, { Surfaced: "True", Serving: "True", Ready: "True" });
    const cluster = await client.read(Cluster, { namespace, name });
    expect(cluster?.spec.controlPlaneEndpoint).toEqual(at);
    expectSaid(cluster, { [ENDPOINT_READY_CONDITION]: "True" });
    expect(await shoots.readKubeconfig(lab, name)).toBe(tokenKubeconfig);
  },
  expectSettled: shoots.expectAvailable,
  remove: shoots.removeShootCluster,
  expectGone: shoots.expectShootClusterGone,
};
