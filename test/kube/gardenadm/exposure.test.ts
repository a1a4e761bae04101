import { afterAll, beforeEach, expect } from "vitest";
import { deployDnsCredentials } from "../../../src/activities/control-plane/dns.ts";
import type { Cluster } from "../../../src/api/index.ts";
import { CloudProfile, DNSRecord, SelfHostedShootExposure, Shoot } from "../../../src/api/index.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { issueAuthority } from "../../../src/activities/secrets/pki.ts";
import { certificatesOf } from "../../../src/activities/secrets/plan.ts";
import { clusterObject, isInDns, type WorkerPool } from "../../../src/components/index.ts";
import { gardenOf } from "../../../src/gardenadm/configuration/garden.ts";
import { readClusterContext } from "../../../src/gardenadm/cluster/control-plane.ts";
import { watchExposure } from "../../../src/gardenadm/node-agent/exposure-watch.ts";
import { exposeControlPlane } from "../../../src/gardenadm/cluster/exposure.ts";
import { findJoinTarget } from "../../../src/gardenadm/token/join-command.ts";
import { takeTurn } from "../../../src/gardenadm/cluster/turn.ts";
import { Node, refTo, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { queryRecords } from "../../../src/provider-local/dns/name-server.ts";
import type { Provider } from "../../../src/provider-local/provider.ts";
import { createSelfHostedProvider } from "../../../src/provider-local/self-hosted/provider.ts";
import { test } from "../../support/cluster-test.ts";
import { exampleConfiguration } from "../../support/configuration.ts";
import { eventually } from "../../support/eventually.ts";
import { startNameServer, type TestNameServer } from "../../support/name-server.ts";

/** The local provider, a real name server, and the Nodes of a control plane. */
const key = { namespace: "kube-system", name: "root" };
const recordKey = { namespace: "kube-system", name: "root-external" };
const apiName = { name: "api.root.perennial.test", type: "A" as const };
const scope = { signal: new AbortController().signal, tell: () => {} };
let client: KubeClient;
let provider: Provider;
let names: TestNameServer;

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  names = await startNameServer();
  const image = { name: "provider-local:1", content: "1" };
  provider = createSelfHostedProvider({ client, image, log: createLogger({ name: "test", level: "silent" }) });
  await provider.start();
});

afterAll(async () => {
  await provider.stop();
  await names.stop();
});

beforeEach(async () => {
  await node("a", "10.0.0.1", "True");
  await node("b", "10.0.0.2", "False");
});

test("an extension leads to the healthy nodes, the DNS to what it says, and neither is asked again where all is well", async () => {
  await expose({ extension: {} });
  expect((await exposure())?.spec).toMatchObject({ type: "local", port: 443, endpoints: [{ nodeName: "a" }] });
  expect(await queryRecords(names.server, apiName)).toEqual(["10.0.0.1"]);
  const before = [(await exposure())?.metadata.resourceVersion, (await record())?.metadata.resourceVersion];
  await expose({ extension: {} });
  expect([(await exposure())?.metadata.resourceVersion, (await record())?.metadata.resourceVersion]).toEqual(before);
});

test("the DNS alone leads to the nodes, without one that goes", async () => {
  await node("b", "10.0.0.2", "True");
  await expose({ dns: {} });
  expect(await queryRecords(names.server, apiName)).toEqual(["10.0.0.1", "10.0.0.2"]);
  expect(await exposure(), "what an extension was asked for before").toBeUndefined();
  await exposeControlPlane(client, await readClusterContext(client), scope, { without: "a" });
  expect(await queryRecords(names.server, apiName)).toEqual(["10.0.0.2"]);
});

test("where no node is healthy, it leads to all", async () => {
  await node("a", "10.0.0.1", "Unknown");
  await expose({ dns: {} });
  expect(await queryRecords(names.server, apiName)).toEqual(["10.0.0.1", "10.0.0.2"]);
});

test("agents follow the health of nodes, while no command changes the control plane", async () => {
  await expose({ dns: {} });
  const stop = new AbortController();
  const log = createLogger({ name: "test", level: "silent" });
  const watches = ["a", "b"].map(async (hostName) => {
    await watchExposure({ client, hostName, log, recheck: 200 }, stop.signal);
  });
  try {
    await node("b", "10.0.0.2", "True");
    await eventually(async () => expect(await addresses()).toEqual(["10.0.0.1", "10.0.0.2"]));
    const turn = await takeTurn(client, { hostName: "c", root: "/nowhere" }, scope);
    await node("a", "10.0.0.1", "Unknown");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await addresses()).toEqual(["10.0.0.1", "10.0.0.2"]);
    await turn.end();
    await eventually(async () => expect(await addresses()).toEqual(["10.0.0.2"]));
  } finally {
    stop.abort();
    await Promise.all(watches);
  }
});

test("what is not exposed any more is led to by nothing", async () => {
  await expose({ extension: {} });
  await expose(undefined);
  expect([await exposure(), await record()]).toEqual([undefined, undefined]);
  expect(await queryRecords(names.server, apiName)).toEqual([]);
});

test("what an extension puts before the nodes is in the certificates of their API servers, and in the line to join by", async () => {
  await expose({ extension: {} }, { dns: {} });
  const status = {
    ...(await exposure())?.status,
    ingress: [{ hostname: "x;id" }, { ip: "192.0.2.7" }, { ip: "10.0.0.1" }],
  };
  await client.patch(refTo(SelfHostedShootExposure, key), { status }, { subresource: "status" });
  const context = await readClusterContext(client);
  const hosts = certificatesOf(context).find(({ name }) => name === "kube-apiserver.b")?.request.hosts;
  expect(hosts).toContain("192.0.2.7");
  expect(hosts, "another node's own address").not.toContain("10.0.0.1");
  expect(await joinServer()).toBe("https://192.0.2.7");
  await expose({ dns: {} });
  expect(await joinServer()).toBe("https://api.root.perennial.test");
});

async function joinServer(): Promise<string> {
  const { certificate } = await issueAuthority("kubernetes", new Date());
  const cluster = { "certificate-authority-data": Buffer.from(certificate).toString("base64") };
  const kubeconfig = { server: "https://localhost", directory: "/", cluster, user: {} };
  // @ts-expect-error -- no more of it is looked at
  return (await findJoinTarget({ client, kubeconfig, called: "admin.conf" }, undefined)).server;
}

async function expose(exposure: Exposure, { dns }: { readonly dns?: object } = {}): Promise<void> {
  const { server, key: tsig } = names;
  const [shoot, , cloudProfile] = exampleConfiguration();
  const providers = [{ type: "rfc2136", primary: true, secretName: "dns" }];
  const made = Shoot.parse(shoot);
  const [pool, ...others] = made.spec.provider.workers ?? [];
  if (pool === undefined) return expect.fail("the example has no pool");
  const spec = {
    ...made.spec,
    dns: dns ?? { domain: "root.perennial.test", providers },
    provider: {
      ...made.spec.provider,
      workers: [{ ...pool, controlPlane: { ...(exposure && { exposure }) } }, ...others],
    },
  };
  await client.apply<Cluster>(
    clusterObject({
      namespace: "kube-system",
      shoot: { ...made, spec },
      cloudProfile: CloudProfile.parse(cloudProfile),
    }),
  );
  const text = {
    Server: `${server.address}:${server.port ?? 53}`,
    ...{ TSIGKeyName: tsig.name, TSIGSecret: tsig.secret, TSIGSecretAlgorithm: tsig.algorithm, Zone: names.zone },
  };
  const data = Object.fromEntries(
    Object.entries(text).map(([name, one]) => [name, Buffer.from(one).toString("base64")]),
  );
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "garden", name: "dns" }, data };
  const context = await readClusterContext(client);
  if (isInDns(context)) await deployDnsCredentials(gardenOf({ objects: [secret] }), client, context, "external");
  await exposeControlPlane(client, context, scope);
}

type Exposure = NonNullable<WorkerPool["controlPlane"]>["exposure"];

async function node(name: string, address: string, ready: string): Promise<void> {
  await client.apply<Node>({ ...typeMeta(Node), metadata: { name, labels: { [CONTROL_PLANE_LABEL]: "" } } });
  const addresses = [{ type: "InternalIP", address }];
  const status = { addresses, conditions: [{ type: "Ready", status: ready }] };
  await client.patch(refTo(Node, { name }), { status }, { subresource: "status" });
}

const addresses = async () => await queryRecords(names.server, apiName);
const exposure = async () => await client.read(SelfHostedShootExposure, key);
const record = async () => await client.read(DNSRecord, recordKey);
