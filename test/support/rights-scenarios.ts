import { expect } from "vitest";
import {
  Cluster,
  EndpointRecord,
  ShootCluster,
  type ShootControlPlane,
  type ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { CredentialsBinding, DNSRecord, DomainReservation, Shoot } from "../../src/api/index.ts";
import { GARDEN_CREDENTIALS_LABEL } from "../../src/api/labels.ts";
import { parseKubeconfig, refTo, renderKubeconfig, Secret, typeMeta, type Kind } from "../../src/kube/index.ts";
import {
  clusterOf,
  controlPlaneOf,
  infrastructureRefOf,
  poolOf,
  shootOf,
  shootTemplate,
} from "./cluster-api-objects.ts";
import type { ControlPlane } from "./control-plane.ts";
import { recordOf } from "./endpoint-record-lab.ts";
import { eventually } from "./eventually.ts";
import { playControlPlane, playedCluster, servePlayedControlPlanes } from "./played-control-plane.ts";
import { playMachine, servePlayedMachines } from "./played-machines.ts";

const namespace = "garden-dev";

/** Has what a Cluster makes made by the process, and taken away with the Cluster, in a cluster that is the garden, too. */
export type RightsScenario = (cluster: ControlPlane) => Promise<void>;

/** Scenario 2: credentials beside the Shoot, and a Seed that fits. They follow their Secret, and go with the Cluster. */
export const bringCredentials: RightsScenario = async (cluster) => {
  const { client } = cluster;
  const [key, copy] = [named("beside"), named("cluster-api-beside")];
  await applyAccount(cluster);
  const seedSelector = { matchLabels: { of: "nowhere" } };
  await makeCluster(cluster, key.name, { infrastructure: { credentials, seedSelector }, template: withoutBinding });
  await eventually(async () => {
    const { status } = (await client.read(ShootCluster, key)) ?? {};
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", reason: "NoSeed" }));
  });
  await client.patch(refTo(ShootCluster, key), { spec: { seedSelector: null } });
  await eventually(async () => expect(await client.read(Shoot, key)).toBeDefined(), 60_000);
  await client.patch(refTo(Secret, named("account")), { data: { key: "Yw==" } });
  await eventually(async () => expect((await client.read(Secret, copy))?.data).toEqual({ key: "Yw==" }));
  await removeCluster(cluster, key.name);
  expect(await client.read(Secret, copy)).toBeUndefined();
  expect(await client.read(CredentialsBinding, copy)).toBeUndefined();
};

/** Scenario 2, of which a Shoot of another's uses the credentials: they are left to the project. */
export const leaveCredentials: RightsScenario = async (cluster) => {
  const { client } = cluster;
  const [key, copy] = [named("left"), named("cluster-api-left")];
  await applyAccount(cluster);
  await makeCluster(cluster, key.name, { infrastructure: { credentials }, template: withoutBinding });
  await eventually(async () => expect(await client.read(Shoot, key)).toBeDefined(), 60_000);
  await client.create(shootOf("user", { credentialsBindingName: copy.name }));
  await removeCluster(cluster, key.name);
  for (const kind of [Secret, CredentialsBinding] as readonly Kind<Secret | CredentialsBinding, "Namespaced">[])
    expect((await client.read(kind, copy))?.metadata.labels ?? {}).toEqual({});
};

/** Scenario 3: the endpoint is there before the Shoot, and its domain is given back with the Cluster. */
export const reserveDomain: RightsScenario = async (cluster) => {
  const { client } = cluster;
  const domain = "reserved.example.com";
  const { dns: _, ...template } = shootTemplate("reserved").spec;
  const infrastructure = { endpoint: { domain } };
  await makeCluster(cluster, "reserved", { infrastructure, template, endpointFrom: "Infrastructure" });
  await eventually(
    async () => expect((await client.read(Shoot, named("reserved")))?.spec.dns).toEqual({ domain }),
    60_000,
  );
  await removeCluster(cluster, "reserved");
  expect(await client.read(DomainReservation, { name: domain })).toBeUndefined();
};

/** An EndpointRecord of a Cluster whose machines are others'; its DNSRecord is taken away with it, once an extension has taken that up. */
export const leadName: RightsScenario = async (cluster) => {
  const { client } = cluster;
  const [key, host] = [named("named"), "named.perennial.test"];
  await servePlayedControlPlanes(client);
  await servePlayedMachines(client);
  const port = Number(new URL(client.server).port);
  const authority = parseKubeconfig(cluster.kubeconfig).cluster["certificate-authority-data"];
  const ca = Buffer.from(String(authority), "base64").toString();
  const server = `https://${host}:${port}`;
  const kubeconfig = renderKubeconfig({ server, ca, token: "none", tlsServerName: "localhost" });
  await playControlPlane({ ...cluster, kubeconfig }, key);
  await client.apply({ ...typeMeta(Secret), metadata: named("dns"), data: {} });
  await client.create(playedCluster(key));
  await client.create(recordOf(key, { port }));
  await playMachine(client, key, { name: "named-0", address: "127.0.0.1" });
  const leads = async () => expect((await client.read(DNSRecord, key))?.spec.values).toEqual(["127.0.0.1"]);
  await eventually(leads, 60_000);
  const dnsRecord = refTo(DNSRecord, key);
  await client.patch(dnsRecord, { metadata: { finalizers: ["extensions.gardener.cloud/dns"] } }); // as its extension does
  await client.remove(refTo(EndpointRecord, key));
  await eventually(async () => expect((await client.read(DNSRecord, key))?.metadata.deletionTimestamp).toBeDefined());
  await client.patch(dnsRecord, { metadata: { finalizers: null } });
  await eventually(async () => expect(await client.read(EndpointRecord, key)).toBeUndefined());
  expect(await client.read(DNSRecord, key)).toBeUndefined();
};

interface Made {
  readonly infrastructure: NonNullable<ShootCluster["spec"]>;
  readonly template: NonNullable<ShootControlPlane["spec"]["shootTemplate"]>["spec"];
  readonly endpointFrom?: ShootControlPlane["spec"]["endpointFrom"];
}

const named = (name: string) => ({ namespace, name });

const credentials = { secretRef: { name: "account" }, providerType: "local" };

const { credentialsBindingName: _, ...withoutBinding } = shootTemplate("beside").spec;

async function applyAccount({ client }: ControlPlane): Promise<void> {
  const metadata = { ...named("account"), labels: { [GARDEN_CREDENTIALS_LABEL]: "true" } };
  await client.apply({ ...typeMeta(Secret), metadata, type: "Opaque", data: { key: "Yg==" } });
}

async function makeCluster({ client }: ControlPlane, name: string, o: Made): Promise<void> {
  const { infrastructure: spec, template, ...from } = o;
  const infrastructureRef = infrastructureRefOf(name);
  const { machinePool, infrastructure } = poolOf(name, `${name}-pool`);
  await client.create({ ...typeMeta(ShootCluster), metadata: named(name), spec });
  await client.create(controlPlaneOf(name, { shootTemplate: { spec: template }, ...from }));
  await client.create(clusterOf(name, { infrastructureRef }));
  await client.create<ShootMachinePool>(infrastructure);
  await client.create(machinePool);
}

async function removeCluster({ client }: ControlPlane, name: string): Promise<void> {
  await client.remove(refTo(Cluster, named(name)));
  await eventually(async () => expect(await client.read(Cluster, named(name))).toBeUndefined(), 60_000);
}
