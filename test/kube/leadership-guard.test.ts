import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, afterEach, describe, expect } from "vitest";
import { Infrastructure } from "../../src/api/index.ts";
import { createLeaderLookup, createZoneServers, formatLeader, type Leader } from "../../src/dns/index.ts";
import {
  createExtensionController,
  createLeadershipGuard,
  type ExtensionController,
} from "../../src/extension/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { updateRecords } from "../../src/provider-local/dns/name-server.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const namespace = "shoot--dev--led";
const record = "led.dev.leadership.perennial.test";
const seed1 = { seed: "seed-1", epoch: 1 };
const lease = 2_000;
let plane: ControlPlane;
let dns: TestNameServer;
let controller: ExtensionController;
/** When the actuator acted last, by Date.now(). */
let actedAt: number;

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const spec = { cloudProfile: {}, seed: {}, shoot: { metadata: { name: "led", namespace: "garden-dev" } } };
  const metadata = { name: namespace };
  await plane.client.apply({ apiVersion: ref.apiVersion, kind: "Cluster", metadata, spec });
});
beforeEach(async () => {
  dns = await startNameServer();
  actedAt = 0;
  const lookup = createLeaderLookup(createZoneServers({ servers: [dns.endpoint] }));
  controller = createExtensionController({
    ...{ client: plane.client, kind: "Infrastructure", type: "led", log },
    guard: createLeadershipGuard({ ask: lookup.ask, log }),
    actuator: { reconcile: act, restore: act, delete: async () => undefined, migrate: async () => undefined },
  });
  controller.start();
});
afterEach(async () => {
  await controller.stop();
  await plane.client.patch(ref, { metadata: { finalizers: null } });
  await plane.client.remove(ref);
  await dns.stop();
});

describe("a controller with a leadership guard, a real API server and a real DNS server", () => {
  test("leaves the object untouched until its seed leads", async () => {
    const created = await create();
    await sleep(500);
    expect((await read())?.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    await lead({ seed: "seed-2", epoch: 1 });
    await sleep(500);
    expect((await read())?.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    await lead(seed1);
    await acting();
  });

  test("stops within a third of the lease when another one leads, and writes nothing more", async () => {
    await lead(seed1);
    await create();
    await acting();
    await lead({ seed: "seed-2", epoch: 2 });
    await sleep(lease);
    const { resourceVersion } = (await read())?.metadata ?? {};
    const before = actedAt;
    await sleep(1_000);
    expect(actedAt).toBe(before);
    expect((await read())?.metadata.resourceVersion).toBe(resourceVersion);
    expect((await read())?.status?.lastOperation?.state).toBe("Processing");
  });

  test("stops when its seed leads again under a later number, until the object says so", async () => {
    await lead(seed1);
    await create();
    await acting();
    await lead({ seed: "seed-1", epoch: 3 });
    await sleep(lease);
    const before = actedAt;
    await sleep(500);
    expect(actedAt).toBe(before);
    await plane.client.patch(ref, { spec: { leadership: { epoch: 3 } } });
    await acting();
  });

  test("stops a lease after the DNS was lost", async () => {
    await lead(seed1);
    await create();
    await acting();
    await dns.stop();
    const lost = Date.now();
    await sleep(2 * lease);
    expect(actedAt - lost).toBeLessThanOrEqual(lease + 100);
    expect(Date.now() - actedAt).toBeGreaterThan(lease / 2);
  });
});

/** Acts ten times a second for as long as it may. */
async function act(
  _object: unknown,
  _cluster: unknown,
  context: { signal: AbortSignal; check(): void },
): Promise<void> {
  for (;;) {
    context.check();
    actedAt = Date.now();
    await sleep(100, undefined, { signal: context.signal });
  }
}

const acting = () => eventually(() => expect(Date.now() - actedAt).toBeLessThan(300));
const lead = (leader: Leader) =>
  updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values: formatLeader(leader), ttl: 0 });

const ref = refTo(Infrastructure, { name: "led", namespace });
const read = () => plane.client.read(ref);
const create = () => plane.client.create(infrastructure());

function infrastructure(): Infrastructure {
  const { apiVersion, kind } = Infrastructure;
  return {
    ...{ apiVersion, kind },
    metadata: { name: ref.name, namespace, annotations: { "gardener.cloud/operation": "reconcile" } },
    spec: {
      type: "led",
      region: "one",
      secretRef: { name: "none", namespace },
      leadership: { record, value: "seed-1", epoch: 1, leaseSeconds: lease / 1000 },
    },
  };
}
