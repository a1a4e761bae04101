import { afterAll, expect } from "vitest";
import { Cluster, ClusterEndpoint, EndpointRecord } from "../../src/api/cluster-api/index.ts";
import { findCondition } from "../../src/cluster-api/objects/conditions.ts";
import { createEndpointController } from "../../src/cluster-api/endpoint/controller.ts";
import { createEndpointRecordController } from "../../src/cluster-api/endpoint-record/controller.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { readManifest } from "../../src/manifests.ts";
import { define } from "../../src/kube/index.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { clusterApiTest as test, startClusterApi } from "../support/cluster-api.ts";
import { digBlackHole, type BlackHole } from "../support/black-hole.ts";
import { startControlPlane, type ApiServer, type ControlPlane } from "../support/control-plane.ts";
import { startDowntimeProbe } from "../support/downtime-probe.ts";
import { applyEndpointKind } from "../support/endpoint-lab.ts";
import { applyDnsCredentials, recordOf, startDnsExtension } from "../support/endpoint-record-lab.ts";
import { eventually } from "../support/eventually.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";
import { playControlPlane, playedCluster, servePlayedControlPlanes } from "../support/played-control-plane.ts";
import { playMachine, servePlayedMachines } from "../support/played-machines.ts";

const key = { namespace: "default", name: "trio" };
const host = "trio.perennial.test";
const addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];

let client: KubeClient;
let workload: ControlPlane;
let kubeconfig: string;
let dns: TestNameServer;
let hole: BlackHole;
let own: { stop(): Promise<void> };
let extension: { stop(): Promise<void> };
const apiServers = new Map<string, ApiServer>();

test.beforeAll(async ({ cluster, core }) => {
  expect(core.output()).not.toBe("");
  ({ client } = cluster);
  await applyEndpointKind(client);
  await define(client, await readManifest("crds/extensions.gardener.cloud_dnsrecords.yaml"));
  await servePlayedControlPlanes(client);
  await servePlayedMachines(client);
  dns = await startNameServer();
  hole = await digBlackHole();
  workload = await startControlPlane({ hosts: [host, ...addresses, hole.behind] });
  kubeconfig = workload.tokenKubeconfig.replace("127.0.0.1", host);
  apiServers.set("127.0.0.1", workload);
  for (const address of addresses.slice(1)) apiServers.set(address, await workload.addApiServer(address));
  own = await startClusterApi(cluster, {
    controllers: [createEndpointController, createEndpointRecordController],
    webhooks: [],
  });
  extension = startDnsExtension(client);
});
afterAll(async () => {
  await own.stop();
  await extension.stop();
  await workload.stop();
  await hole.remove();
  await dns.stop();
});

const answers = async () => await queryRecords(dns.server, { name: host, type: "A" });
const leadsTo = async (wanted: readonly string[]) =>
  await eventually(async () => expect(await answers()).toEqual(wanted), 120_000);
const without = (dead: string) => addresses.filter((address) => address !== dead);

/** In ms: how long clients may be without an answer once that can be mended; about three times what it takes. */
const LONGEST_GAP = 30_000;

/** How often clients get through without one failure after that. */
const QUESTIONS = 20;

/** When a fault can be mended first, and when it is; by `Date.now()`. */
interface Mending {
  readonly mendableAt: number;
  readonly outAt: number;
}

/** While something fails and is mended, a client asks the API server by its name, as the name is at that moment: it is not long without an answer, and none afterwards. */
async function expectThrough(what: string, fault: () => Promise<Mending>): Promise<void> {
  const begin = Date.now();
  const probe = startDowntimeProbe(kubeconfig, "/readyz", { dnsServer: dns.endpoint });
  const { mendableAt, outAt } = await fault();
  await expectQuestions(QUESTIONS);
  const { failed, probes, longestGap, gapBegan, lastAnswer } = await probe.stop();
  const out = ((outAt - begin) / 1000).toFixed(1);
  console.log(
    `${what}: right again after ${out} s, ${failed} of ${probes} questions failed, gap ${longestGap.toFixed(0)} ms`,
  );
  expect(lastAnswer).toBeGreaterThan(outAt);
  expect(Math.min(longestGap, gapBegan + longestGap - mendableAt), "ms without an answer").toBeLessThan(LONGEST_GAP);
}

/** A client with more patience than the one that counts: what it does not get is not there, however busy the machine is. */
async function expectQuestions(count: number): Promise<void> {
  const probe = startDowntimeProbe(kubeconfig, "/readyz", { dnsServer: dns.endpoint, timeout: 10_000 });
  await eventually(() => probe.probes() >= count, 60_000);
  expect(await probe.stop()).toMatchObject({ failed: 0 });
}

test("the endpoint is on its Cluster before the first Machine, and then its name leads to those that core keeps", async ({
  cluster,
}) => {
  await applyDnsCredentials(client, key.namespace, dns);
  await playControlPlane({ ...cluster, client, kubeconfig }, key);
  await client.create(playedCluster(key));
  const port = Number(new URL(workload.client.server).port);
  await client.create(recordOf(key, { port }));
  await eventually(async () =>
    expect((await client.read(Cluster, key))?.spec.controlPlaneEndpoint).toEqual({ host, port }),
  );
  for (const [at, address] of addresses.entries()) await playMachine(client, key, { name: `trio-${at}`, address });
  await leadsTo(addresses);
  await eventually(async () => {
    const { status } = (await client.read(EndpointRecord, key)) ?? {};
    expect(findCondition(status?.conditions, "Ready")).toMatchObject({ status: "True", reason: "AllServe" });
  });
  expect((await client.read(ClusterEndpoint, key))?.metadata.ownerReferences).toMatchObject([
    { kind: "EndpointRecord" },
  ]);
});

test.for(addresses)(
  "API server %s is killed: it leaves the name, clients get through, and it comes back",
  async (dead) => {
    await expectThrough(`kill -9 of ${dead}`, async () => {
      const mendableAt = Date.now();
      await apiServers.get(dead)?.kill();
      await leadsTo(without(dead));
      return { mendableAt, outAt: Date.now() };
    });
    expect(await answers()).toEqual(without(dead));
    await apiServers.get(dead)?.restart();
    await leadsTo(addresses);
  },
);

test("the name server is killed, and an API server while it is away: both are mended, and the record says what was wrong", async () => {
  const [dead = ""] = addresses;
  await expectThrough("kill -9 of the name server, then of an API server", async () => {
    await dns.kill();
    await apiServers.get(dead)?.kill();
    await eventually(async () => {
      const { status } = (await client.read(EndpointRecord, key)) ?? {};
      expect(findCondition(status?.conditions, "Published")).toMatchObject({
        status: "False",
        reason: "ExtensionFailed",
      });
    }, 120_000);
    await dns.restart();
    const mendableAt = Date.now();
    await leadsTo(without(dead));
    return { mendableAt, outAt: Date.now() };
  });
  expect(await answers()).toEqual(without(dead));
  await apiServers.get(dead)?.restart();
  await leadsTo(addresses);
});

test("an API server becomes a black hole: it leaves the name without a word of its own, and comes back when packets do", async () => {
  await workload.addApiServer(hole.behind);
  await playMachine(client, key, { name: "trio-hole", address: hole.address });
  await leadsTo([...addresses, hole.address]);
  await expectThrough("a black hole", async () => {
    const mendableAt = Date.now();
    await hole.close();
    await leadsTo(addresses);
    return { mendableAt, outAt: Date.now() };
  });
  await eventually(async () => {
    const { status } = (await client.read(EndpointRecord, key)) ?? {};
    expect(findCondition(status?.conditions, "Serving")).toMatchObject({
      ...{ status: "True", reason: "SomeServe" },
      message: expect.stringMatching(/^Machine trio-hole: \S+ does not answer in time$/),
    });
  });
  await hole.open();
  await leadsTo([...addresses, hole.address]);
});
