import { expect } from "vitest";
import { Cluster, ShootCluster } from "../../../src/api/cluster-api/index.ts";
import { CredentialsBinding, Shoot } from "../../../src/api/index.ts";
import { GARDEN_CREDENTIALS_LABEL } from "../../../src/api/labels.ts";
import { infrastructureCredentialsName } from "../../../src/api/names.ts";
import { Secret, typeMeta } from "../../../src/kube/index.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf, shootTemplate } from "../cluster-api-objects.ts";
import type { KillScenario } from "./life.ts";
import * as shoots from "./shoots.ts";

const { namespace, expectSaid } = shoots;

/** Scenario 2 of the proposal of flexible endpoints: the service, and beside it a ShootCluster with region, zones and credentials. */
export const withCredentials: KillScenario = {
  title: "a Cluster with credentials beside the service",
  shoots: 1,
  async make(lab, name) {
    const { client } = lab.cluster;
    const labels = { [GARDEN_CREDENTIALS_LABEL]: "true" };
    const metadata = { namespace, name: `${name}-account`, labels };
    await client.create({ ...typeMeta(Secret), metadata, type: "Opaque", data: { user: "YQ==", key: "Yg==" } });
    const { credentialsBindingName: _, region: __, ...spec } = shootTemplate(name).spec;
    const credentials = { secretRef: { name: `${name}-account` }, providerType: "local" };
    const beside = { region: "local", zones: ["a", "b"], credentials };
    await client.create({ ...typeMeta(ShootCluster), metadata: { namespace, name }, spec: beside });
    await client.create(controlPlaneOf(name, { shootTemplate: { spec } }));
    await client.create(clusterOf(name, { infrastructureRef: infrastructureRefOf(name) }));
    await shoots.createPool(lab, name);
    await shoots.playFlow(lab, name, client.server);
  },
  async expectMade(lab, name) {
    const { client } = lab.cluster;
    await shoots.expectShootCluster(lab, name);
    const copy = { namespace, name: infrastructureCredentialsName(name) };
    const infrastructure = await client.read(ShootCluster, { namespace, name });
    expect(infrastructure?.status).toMatchObject({ initialization: { provisioned: true } });
    expectSaid(infrastructure, { Ready: "True" });
    expect((await client.read(Secret, copy))?.data).toEqual({ user: "YQ==", key: "Yg==" });
    expect((await client.read(CredentialsBinding, copy))?.credentialsRef).toMatchObject({ kind: "Secret", ...copy });
    const shoot = await client.read(Shoot, { namespace, name });
    expect(shoot?.spec).toMatchObject({ region: "local", credentialsBindingName: copy.name });
    const cluster = await client.read(Cluster, { namespace, name });
    expect(cluster?.status).toMatchObject({ failureDomains: [{ name: "a" }, { name: "b" }] });
  },
  expectSettled: shoots.expectAvailable,
  remove: shoots.removeShootCluster,
  async expectGone(lab, name) {
    const { client } = lab.cluster;
    await shoots.expectShootClusterGone(lab, name);
    const copy = { namespace, name: infrastructureCredentialsName(name) };
    expect(await client.read(CredentialsBinding, copy)).toBeUndefined();
    expect(await client.read(Secret, copy)).toBeUndefined();
    expect(await client.read(Secret, { namespace, name: `${name}-account` }), "the user's own").toBeDefined();
  },
};
