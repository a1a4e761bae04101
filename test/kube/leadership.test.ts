import { afterAll, beforeEach, describe, expect, vi } from "vitest";
import { createLeadership } from "../../src/activities/leadership/leadership.ts";
import { StepError } from "../../src/activities/failure.ts";
import { DNSRecord, Shoot } from "../../src/api/index.ts";
import { FORCE_TAKEOVER_ANNOTATION } from "../../src/api/annotations.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { queryNameServers } from "../../src/dns/query.ts";
import { createLeaderLookup, createZoneServers, type LeaderLookup } from "../../src/dns/index.ts";
import { refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createGardenProvider } from "../../src/provider-local/garden.ts";
import { queryRecords, updateRecords } from "../../src/provider-local/dns/name-server.ts";
import type { Provider } from "../../src/provider-local/provider.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";

const log = createLogger({ name: "test", level: "silent" });
let gardenClient: KubeClient;
let dns: TestNameServer;
let provider: Provider;
let lookup: LeaderLookup;
let count = 0;
let run: ShootRun;
let record: string;

test.beforeAll(async ({ cluster }) => {
  dns = await startNameServer();
  gardenClient = cluster.client;
  await applyGarden(gardenClient);
  await gardenClient.apply(leadershipDomain());
  provider = createGardenProvider({ client: gardenClient, log });
  await provider.start();
  lookup = createLeaderLookup(createZoneServers({ servers: [dns.endpoint] }));
});
afterAll(async () => {
  await provider.stop();
  await dns.stop();
});

beforeEach(async () => {
  const name = `l${(count += 1)}`;
  record = `${name}.dev.leadership.perennial.test`;
  const created = await createShoot(gardenClient, name, { seedName: "seed-1" });
  run = { ...created, seedName: "seed-1", leadershipRecord: record };
});

describe("a Shoot's leadership", () => {
  test("begins with its seed and epoch 1, in its status and in the DNS", async () => {
    await leadership().ensureLeadership(run);
    expect(await status()).toEqual({ record, seed: "seed-1", epoch: 1, leaseSeconds: 60 });
    expect(await queryRecords(dns.server, { name: record, type: "TXT" })).toEqual(["Epoch=1", "Seed=seed-1"]);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1 });
    const object = await dnsRecord();
    expect(object?.metadata.ownerReferences?.[0]).toMatchObject({ kind: "Shoot", uid: run.uid });
    expect(object?.metadata.annotations?.["perennial.dev/epoch"]).toBe("1");
  });

  test("writes nothing when it is as it should be", async () => {
    await leadership().ensureLeadership(run);
    const before = (await dnsRecord())?.metadata.resourceVersion;
    await leadership().ensureLeadership(run);
    expect((await dnsRecord())?.metadata.resourceVersion).toBe(before);
  });

  test("does not exist in a garden without a leadership domain", async () => {
    const { leadershipRecord: _, ...without } = run;
    await leadership().ensureLeadership(without);
    expect(await status()).toBeUndefined();
  });

  test("refuses to be confirmed by a seed, or under a number, that leads no more", async () => {
    await flipped();
    const late = leadership().ensureLeadership(run);
    await expect(late).rejects.toThrow("in epoch 1: seed-2 leads in epoch 2");
    await expect(late).rejects.toMatchObject({ retryable: false });
    await expect(leadership().ensureLeadership({ ...run, epoch: 2 })).rejects.toThrow("seed-2 leads in epoch 2");
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2 });
  });

  test("makes leases longer when asked to, and never shorter while a seed may hold one", async () => {
    await leadership().ensureLeadership(run);
    await leadership().ensureLeadership({ ...run, leaseSeconds: 90 });
    expect(await status()).toMatchObject({ leaseSeconds: 90 });
    await leadership().ensureLeadership({ ...run, leaseSeconds: 30 });
    expect(await status()).toMatchObject({ leaseSeconds: 90 });
  });

  test("ends with the record, and may begin again under the first number", async () => {
    await flipped();
    await leadership().removeLeadership({ ...run, epoch: 2, seedName: "seed-2" });
    await leadership().removeLeadership({ ...run, epoch: 2, seedName: "seed-2" });
    expect(await dnsRecord()).toBeUndefined();
    expect(await queryRecords(dns.server, { name: record, type: "TXT" })).toEqual([]);
  });

  test("is not ended by a seed that leads no more", async () => {
    await flipped();
    await expect(leadership().removeLeadership(run)).rejects.toThrow("is of epoch 2 already");
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2 });
  });
});

describe("a flip", () => {
  test("makes the destination the leader under the next number, and says since when", async () => {
    await flipped();
    const leader = await status();
    expect(leader).toMatchObject({ record, seed: "seed-2", epoch: 2, leaseSeconds: 60, previousSeed: "seed-1" });
    expect(Date.parse(leader?.since ?? "")).toBeGreaterThan(Date.now() - 60_000);
    expect((await shoot()).status).toMatchObject({ seedName: "seed-2", seeds: ["seed-1", "seed-2"] });
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2 });
  });

  test("does the same when it is asked again, however late", async () => {
    const moving = await flipped();
    const since = (await status())?.since;
    await leadership().flip(moving);
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 2, since });
  });

  test("is finished by another try when it was cut off after its decision", async () => {
    const moving = await prepared();
    const silent: LeaderLookup = { ask: lookup.ask, askAll: () => Promise.reject(new Error("killed")) };
    await expect(createLeadership({ gardenClient, lookup: silent }).flip(moving)).rejects.toThrow("killed");
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 2 });
    expect((await status())?.since).toBeUndefined();
    await leadership().flip(moving);
    expect((await status())?.since).toBeDefined();
  });

  test("is finished by the new leader's first look when its own flow was given up after its decision", async () => {
    const moving = await prepared();
    const silent: LeaderLookup = { ask: lookup.ask, askAll: () => Promise.reject(new Error("killed")) };
    await expect(createLeadership({ gardenClient, lookup: silent }).flip(moving)).rejects.toThrow("killed");
    await leadership().ensureLeadership({ ...moving, operation: "Restore", seedName: "seed-2", epoch: 2 });
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 2, since: expect.any(String) });
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2 });
  });

  test("is refused once the Shoot's seed was changed back", async () => {
    const moving = await prepared();
    await gardenClient.patch(shootRef(), { spec: { seedName: "seed-1" } });
    const cancelled = leadership().flip(moving);
    await expect(cancelled).rejects.toThrow("was cancelled, spec.seedName is seed-1");
    await expect(cancelled).rejects.toMatchObject({ retryable: false });
    expect(await status()).toMatchObject({ seed: "seed-1", epoch: 1 });
  });

  test("is left to the takeover that was approved meanwhile", async () => {
    const moving = await prepared();
    const annotations = { [FORCE_TAKEOVER_ANNOTATION]: JSON.stringify({ reason: "seed-1 burnt down" }) };
    await gardenClient.patch(shootRef(), { metadata: { annotations } });
    const late = leadership().flip(moving);
    await expect(late).rejects.toThrow("a takeover was approved, which does it instead");
    await expect(late).rejects.toMatchObject({ retryable: false });
    expect(await status()).toMatchObject({ seed: "seed-1", epoch: 1 });
  });

  test("goes ahead or is cancelled, never both, when both are tried at once", async () => {
    const moving = await prepared();
    const [flip] = await Promise.allSettled([
      leadership().flip(moving),
      gardenClient.patch(shootRef(), { spec: { seedName: "seed-1" } }),
    ]);
    expect((await status())?.epoch).toBe(flip.status === "fulfilled" ? 2 : 1);
  });

  test("is done once by two that try at the same time", async () => {
    const moving = await prepared();
    const tries = await Promise.allSettled([leadership().flip(moving), leadership().flip(moving)]);
    expect(tries.some(({ status: outcome }) => outcome === "fulfilled")).toBe(true);
    await leadership().flip(moving);
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 2 });
  });

  test("of a migration that is long over changes nothing", async () => {
    const first = await flipped();
    const back = { ...run, epoch: 2, seedName: "seed-2", migration: migration("seed-2", "seed-1") };
    await gardenClient.patch(shootRef(), { spec: { seedName: "seed-1" } });
    await leadership().flip(back);
    await expect(leadership().flip(first)).rejects.toThrow(StepError);
    expect(await status()).toMatchObject({ seed: "seed-1", epoch: 3 });
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 3 });
  });

  test("takes over from the destination itself, under a new number, when the old seed dies after a planned one", async () => {
    const moving = await flipped();
    const takeover = { ...moving, epoch: 2, seedName: "seed-2", migration: { ...migration(), takeover: true } };
    await leadership().flip(takeover);
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 3, previousSeed: "seed-1", takeover: true });
  });

  test("skips, in a takeover, the number that a planned migration has announced to the old seed", async () => {
    const takeover = { ...(await prepared()), migration: { ...migration(), takeover: true } };
    await leadership().flip(takeover);
    await leadership().flip(takeover);
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 3, previousSeed: "seed-1", takeover: true });
  });

  test("waits for the slowest server of the zone", async () => {
    const moving = await prepared();
    const secondary = await dns.addSecondary(3);
    const servers = [dns.endpoint, secondary.endpoint];
    const both = createLeaderLookup(createZoneServers({ servers }));
    await vi.waitFor(async () => expect(await both.askAll(record)).toHaveLength(2), 10_000);
    await vi.waitFor(
      async () => expect((await both.askAll(record)).every(({ leader }) => leader?.epoch === 1)).toBe(true),
      10_000,
    );
    const flip = createLeadership({ gardenClient, lookup: both }).flip(moving);
    await vi.waitFor(async () => expect((await lookup.ask(record))?.epoch).toBe(2), 10_000);
    expect((await status())?.since).toBeUndefined();
    await flip;
    expect((await both.askAll(record)).map(({ leader }) => leader?.epoch)).toEqual([2, 2]);
    await secondary.stop();
  });

  test("waits for a server that was just added to the zone, which resolvers don't know yet", async () => {
    const moving = await prepared();
    const secondary = await dns.addSecondary(3_600);
    const added = `ns2.${dns.zone}`;
    await dns.update(`add ${added} 10 A 127.0.0.1`, `add ${dns.zone} 10 NS ${added}.`);
    const servers = createZoneServers(
      {},
      {
        nameServers: async (asked, name) => {
          if (asked.length > 0) return await queryNameServers(asked, name);
          return name === dns.zone ? [`ns.${dns.zone}`] : undefined;
        },
        addresses: async (_, host) => [host === added ? secondary.endpoint : dns.endpoint],
        now: () => performance.now(),
      },
    );
    const flip = createLeadership({ gardenClient, lookup: createLeaderLookup(servers), timeout: 5_000 }).flip(moving);
    await expect(flip).rejects.toThrow(`server ${secondary.endpoint} names seed-1 in epoch 1`);
    expect((await status())?.since).toBeUndefined();
    await dns.update(`delete ${dns.zone} NS ${added}.`, `delete ${added} A`);
    await secondary.stop();
  });

  test("says which server it waits for", async () => {
    const moving = await prepared();
    const secondary = await dns.addSecondary(60);
    await secondary.stop();
    const servers = [dns.endpoint, secondary.endpoint];
    const both = createLeaderLookup(createZoneServers({ servers }));
    const flip = createLeadership({ gardenClient, lookup: both, timeout: 500 }).flip(moving);
    await expect(flip).rejects.toThrow(`server ${secondary.endpoint} does not answer`);
    await expect(flip).rejects.toMatchObject({ retryable: true });
  });

  test("says what is wrong when the DNS is down, and goes on by itself when it is back", async () => {
    const moving = await prepared();
    await gardenClient.apply(leadershipDomain("127.0.0.1:9"));
    const flip = createLeadership({ gardenClient, lookup, timeout: 3_000 }).flip(moving);
    await expect(flip).rejects.toThrow(/DNSRecord garden-dev\/l\d+-leadership is not done: .*cannot ask for TXT/);
    await gardenClient.apply(leadershipDomain());
    await leadership().flip(moving);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2 });
  });
});

describe("a leadership record", () => {
  test("is put right again when something else has changed it", async () => {
    await leadership().ensureLeadership(run);
    await updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values: ["Seed=x"], ttl: 1 });
    await leadership()
      .ensureLeadership(run)
      .catch(() => undefined);
    await leadership().ensureLeadership(run);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1 });
  });

  test("is not changed by a DNSRecord of an earlier epoch, whichever seed wrote it", async () => {
    await flipped();
    const { apiVersion, kind } = DNSRecord;
    const { namespace } = run;
    const { spec } = (await dnsRecord()) as DNSRecord;
    await gardenClient.create({
      ...{ apiVersion, kind },
      metadata: { name: `${run.name}-late`, namespace, annotations: { "gardener.cloud/operation": "reconcile" } },
      spec: { ...spec, values: ["Seed=seed-1", "Epoch=1"] },
    });
    await vi.waitFor(async () => {
      const late = await gardenClient.read(DNSRecord, { namespace, name: `${run.name}-late` });
      expect(late?.status?.lastError?.description).toContain(
        `cannot let seed-1 lead in epoch 1: ${record} says that seed-2 leads in epoch 2`,
      );
    }, 10_000);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2 });
  });

  test("is changed by the server only if it still is what was read", async () => {
    await leadership().ensureLeadership(run);
    const { server, zone } = dns;
    const set = { name: record, type: "TXT", ttl: 5 } as const;
    const late = updateRecords(
      server,
      zone,
      { ...set, values: ["Seed=b", "Epoch=9"] },
      { before: ["Seed=a", "Epoch=8"] },
    );
    await expect(late).rejects.toThrow(/NXRRSET/);
    await expect(updateRecords(server, zone, { ...set, values: ["x"] }, { before: [] })).rejects.toThrow(/YXRRSET/);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1 });
  });
});

test("the servers of a zone are found through a resolver, from any name in it", async () => {
  const servers = createZoneServers({ resolvers: [dns.endpoint] });
  expect(await servers.of("shoot.project.leadership.perennial.test")).toEqual(["127.0.0.1"]);
  expect(await servers.of("perennial.test")).toEqual(["127.0.0.1"]);
  await expect(servers.of("example.org")).rejects.toThrow(/cannot ask 127.0.0.1:\d+ for NS example.org: EREFUSED/);
});

const leadership = () => createLeadership({ gardenClient, lookup, timeout: 10_000 });
const migration = (source = "seed-1", destination = "seed-2") => ({ source, destination, takeover: false });

/** The Shoot leads from seed-1 and is asked to move to seed-2. */
async function prepared(): Promise<ShootRun> {
  await leadership().ensureLeadership(run);
  await gardenClient.patch(shootRef(), { spec: { seedName: "seed-2" } });
  return { ...run, operation: "Migrate", migration: migration() };
}

async function flipped(): Promise<ShootRun> {
  const moving = await prepared();
  await leadership().flip(moving);
  return moving;
}

async function shoot(): Promise<Shoot> {
  const found = await gardenClient.read(shootRef());
  if (found === undefined) throw new Error("the Shoot is gone");
  return found;
}

async function status() {
  return (await shoot()).status?.leadership;
}

function shootRef() {
  return refTo(Shoot, { namespace: run.namespace, name: run.name });
}

function recordRef() {
  return refTo(DNSRecord, { namespace: run.namespace, name: `${run.name}-leadership` });
}

const dnsRecord = () => gardenClient.read(recordRef());

/** The garden's Secret, with the test's server. */
function leadershipDomain(server = dns.endpoint) {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "leadership-domain",
      namespace: "garden",
      labels: { "gardener.cloud/role": "leadership-domain" },
      annotations: {
        "dns.gardener.cloud/domain": "leadership.perennial.test",
        "dns.gardener.cloud/provider": "rfc2136",
      },
    },
    stringData: {
      Server: server,
      Zone: dns.zone,
      TSIGKeyName: dns.key.name,
      TSIGSecret: dns.key.secret,
      TSIGSecretAlgorithm: dns.key.algorithm,
    },
  };
}
