import { afterAll, beforeEach, describe, expect } from "vitest";
import { createLeadership } from "../../src/activities/leadership/leadership.ts";
import { StepError } from "../../src/activities/step-error.ts";
import { DNSRecord, Shoot } from "../../src/api/index.ts";
import { FORCE_TAKEOVER_ANNOTATION } from "../../src/api/annotations.ts";
import { readShootView } from "../../src/activities/shoot/view.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { createLeaderLookup, createZoneServers, formatLeader, type LeaderLookup } from "../../src/dns/index.ts";
import { network, type Transports } from "../../src/dns/transport.ts";
import { refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createGardenProvider } from "../../src/provider-local/garden.ts";
import { queryRecords, updateRecords } from "../../src/provider-local/dns/name-server.ts";
import type { Provider } from "../../src/provider-local/provider.ts";
import { test } from "../support/cluster-test.ts";
import { cutOff } from "../support/cut-off-lookup.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
let gardenClient: KubeClient;
let dns: TestNameServer;
let provider: Provider;
let lookup: LeaderLookup;
let count = 0;
let run: ShootRun;
let record: string;

test.beforeAll(async ({ cluster }) => {
  dns = await startNameServer("leadership-perennial.test");
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
  record = `${name}.dev.leadership-perennial.test`;
  const created = await createShoot(gardenClient, name, { seedName: "seed-1" });
  run = { ...created, seedName: "seed-1", leadershipRecord: record };
});

describe("a Shoot's leadership", () => {
  test("begins with its seed and epoch 1, in its status and in the DNS", async () => {
    await leadership().ensureLeadership(run);
    expect(await status()).toEqual({ record, seed: "seed-1", epoch: 1, leaseSeconds: 60 });
    expect(await queryRecords(dns.server, { name: record, type: "TXT" })).toEqual([
      "Epoch=1",
      "Seed=seed-1",
      `Shoot=${run.uid}`,
    ]);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1, shoot: run.uid });
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
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2, shoot: run.uid });
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
    await leadership().removeLeadership(run);
    await leadership().removeLeadership(run);
    expect(await dnsRecord()).toBeUndefined();
    expect(await queryRecords(dns.server, { name: record, type: "TXT" })).toEqual([]);
  });

  test("is not ended on the word of a status that was lost, nor is a Shoot let go of which there is a record", async () => {
    const object = await createRecord("2", run.uid);
    await expect(leadership().removeLeadership(run)).rejects.toThrow("is of epoch 2 already");
    await expect(leadership().confirmLeadership(run)).rejects.toThrow("is of epoch 2 already");
    const periods = { leaseSeconds: 60, dnsTtl: 120, syncPeriod: 1, seedDeadline: 1, retryDuration: 1 };
    const view = () => readShootView(gardenClient, run, periods);
    expect(await view()).toMatchObject({ initialised: true });
    await gardenClient.remove(refOf(object));
    expect(await view()).toMatchObject({ initialised: false });
    await leadership().removeLeadership(run);
    await createRecord("2", "earlier"); // of a Shoot that was lost with its status, for all that the garden knows
    expect(await view()).toMatchObject({ initialised: true });
    await expect(leadership().confirmLeadership(run)).rejects.toThrow(/is that of an earlier Shoot of this name/);
    await gardenClient.remove(recordRef());
  });

  test("is asked for before a deletion: of the status, the record's object, and each server", async () => {
    await leadership().ensureLeadership(run);
    await leadership().confirmLeadership(run);
    await expect(leadership().confirmLeadership({ ...run, epoch: 2 })).rejects.toThrow("seed-1 leads in epoch 1");
    const values = ["Seed=seed-9", "Epoch=3", `Shoot=${run.uid}`];
    await updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values, ttl: 0 });
    await expect(leadership().confirmLeadership(run)).rejects.toThrow(/names seed-9 in epoch 3/);
    await updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values: [], ttl: 0 });
    await leadership().confirmLeadership(run); // as after its removal
  });

  test("is not confirmed while a server of the zone is silent", async () => {
    await leadership().ensureLeadership(run);
    const silent = createLeaderLookup(createZoneServers({ servers: [dns.endpoint, "127.0.0.1:9"] }));
    const confirmed = createLeadership({ gardenClient, lookup: silent }).confirmLeadership(run);
    await expect(confirmed).rejects.toThrow(/server 127.0.0.1:9 does not answer/);
  });
});

describe("a later Shoot of the same name", () => {
  test("waits until the record of the earlier one is gone, however high its epoch was, and then begins with the first", async () => {
    await leadership().ensureLeadership(run);
    const { metadata } = await shoot();
    const [owner] = (await dnsRecord())?.metadata.ownerReferences ?? [];
    const annotations = { "perennial.dev/epoch": "12" };
    const ownerReferences = [{ ...owner, uid: "earlier" }];
    await gardenClient.patch(recordRef(), { metadata: { annotations, ownerReferences, finalizers: ["test/hold"] } });
    const early = leadership().ensureLeadership(run);
    await expect(early).rejects.toThrow(
      /is that of an earlier Shoot of this name, with uid earlier: .+ held by test\/hold/,
    );
    await expect(early).rejects.toMatchObject({ retryable: true });
    await leadership().removeLeadership(run); // nothing of it is this Shoot's
    await gardenClient.patch(recordRef(), { metadata: { finalizers: null } });
    await leadership().ensureLeadership(run);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1, shoot: metadata.uid });
  });

  test("does not take over a record in the DNS that says it is another one's, nor does its deletion", async () => {
    const values = ["Seed=seed-9", "Epoch=12", "Shoot=earlier"];
    await updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values, ttl: 0 });
    const refused = createLeadership({ gardenClient, lookup, timeout: 2_000 }).ensureLeadership(run);
    await expect(refused).rejects.toThrow(/is the record of another Shoot of that name, with uid earlier/);
    await leadership().removeLeadership(run);
    expect(await queryRecords(dns.server, { name: record, type: "TXT" })).toHaveLength(3);
    await updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values: [], ttl: 1 });
    await leadership().ensureLeadership(run);
  });
});

describe("a flip", () => {
  test("makes the destination the leader under the next number, and says since when", async () => {
    await flipped();
    const leader = await status();
    expect(leader).toMatchObject({ record, seed: "seed-2", epoch: 2, leaseSeconds: 60, previousSeed: "seed-1" });
    expect(Date.parse(leader?.since ?? "")).toBeGreaterThan(Date.now() - 60_000);
    expect((await shoot()).status).toMatchObject({ seedName: "seed-2", seeds: ["seed-1", "seed-2"] });
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2, shoot: run.uid });
  });

  test("tells the tenth epoch from the ninth", async () => {
    run = { ...run, epoch: 9 };
    await flipped();
    expect(await lookup.ask(record)).toMatchObject({ seed: "seed-2", epoch: 10 });
    await expect(leadership().confirmLeadership(run)).rejects.toThrow("seed-2 leads in epoch 10");
  });

  test("does the same when it is asked again, however late", async () => {
    const moving = await flipped();
    const since = (await status())?.since;
    await leadership().flip(moving);
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 2, since });
  });

  test("is finished by another try when it was cut off after its decision", async () => {
    const moving = await prepared();
    await expect(createLeadership({ gardenClient, lookup: cutOff(lookup) }).flip(moving)).rejects.toThrow("killed");
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 2 });
    expect((await status())?.since).toBeUndefined();
    await leadership().flip(moving);
    expect((await status())?.since).toBeDefined();
  });

  test("is finished by the new leader's first look when its own flow was given up after its decision", async () => {
    const moving = await prepared();
    await expect(createLeadership({ gardenClient, lookup: cutOff(lookup) }).flip(moving)).rejects.toThrow("killed");
    await leadership().ensureLeadership({ ...moving, operation: "Restore", seedName: "seed-2", epoch: 2 });
    expect(await status()).toMatchObject({ seed: "seed-2", epoch: 2, since: expect.any(String) });
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2, shoot: run.uid });
  });

  test("counts on from 9 to 10, and lets no late 9 go back", async () => {
    const ninth = { ...run, epoch: 9 };
    await leadership().ensureLeadership(ninth);
    await gardenClient.patch(shootRef(), { spec: { seedName: "seed-2" } });
    await leadership().flip({ ...ninth, operation: "Migrate", migration: migration() });
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 10, shoot: run.uid });
    await expect(leadership().ensureLeadership(ninth)).rejects.toThrow("in epoch 9: seed-2 leads in epoch 10");
    await expect(leadership().confirmLeadership(ninth)).rejects.toThrow("seed-2 leads in epoch 10");
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 10, shoot: run.uid });
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
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 3, shoot: run.uid });
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
    await eventually(async () => expect(await both.askAll(record)).toHaveLength(2));
    await eventually(async () =>
      expect((await both.askAll(record)).every(({ leader }) => leader?.epoch === 1)).toBe(true),
    );
    const flip = createLeadership({ gardenClient, lookup: both }).flip(moving);
    await eventually(async () => expect((await lookup.ask(record))?.epoch).toBe(2));
    const { since } = (await status()) ?? {}; // the other server copies the zone by its own clock, perhaps just now
    if (since !== undefined) expect((await both.askAll(record)).map(({ leader }) => leader?.epoch)).toEqual([2, 2]);
    await flip;
    expect((await both.askAll(record)).map(({ leader }) => leader?.epoch)).toEqual([2, 2]);
    await secondary.stop();
  });

  test("waits for a server that was just added to the zone, which resolvers don't know yet", async () => {
    const moving = await prepared();
    const secondary = await dns.addSecondary(3_600);
    const added = `ns2.${dns.zone}`;
    const cache = await dns.addCache();
    const transports = routed({ "127.0.0.1": dns.endpoint, "127.0.0.2": secondary.endpoint });
    const servers = createZoneServers({ resolvers: [cache.endpoint] }, { transports });
    expect(await servers.of(record)).toEqual(["127.0.0.1"]);
    await dns.update(`add ${added} 10 A 127.0.0.2`, `add ${dns.zone} 10 NS ${added}.`);
    const flip = createLeadership({ gardenClient, lookup: createLeaderLookup(servers), timeout: 5_000 }).flip(moving);
    await expect(flip).rejects.toThrow("server 127.0.0.2 names seed-1 in epoch 1");
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
    const flip = createLeadership({ gardenClient, lookup: both, timeout: 3_000 }).flip(moving);
    await expect(flip).rejects.toThrow(`server ${secondary.endpoint} does not answer`);
    await expect(flip).rejects.toMatchObject({ retryable: true });
  });

  test("says what is wrong when the DNS is down, and goes on by itself when it is back", async () => {
    const moving = await prepared();
    await gardenClient.apply(leadershipDomain("127.0.0.1:9"));
    const flip = createLeadership({ gardenClient, lookup, timeout: 3_000 }).flip(moving);
    await expect(flip).rejects.toThrow(
      /DNSRecord garden-dev\/l\d+-leadership is not done: .*cannot ask 127.0.0.1:9 for TXT/,
    );
    await gardenClient.apply(leadershipDomain());
    await leadership().flip(moving);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2, shoot: run.uid });
  });
});

describe("a leadership record", () => {
  test.each(["aws-route53", "google-clouddns", "azure-dns", "own-dns"])(
    "is not entrusted to DNS of type %s",
    async (type) => {
      const secret = leadershipDomain();
      const annotations = { ...secret.metadata.annotations, "dns.gardener.cloud/provider": type };
      await gardenClient.apply({ ...secret, metadata: { ...secret.metadata, annotations } });
      const ensured = leadership().ensureLeadership(run);
      await expect(ensured).rejects.toThrow(`cannot keep leadership record ${record} in DNS of type ${type}: `);
      await expect(ensured).rejects.toMatchObject({ codes: ["ERR_CONFIGURATION_PROBLEM"], retryable: false });
      expect(await dnsRecord()).toBeUndefined();
      await gardenClient.apply(leadershipDomain());
    },
  );

  test("is put right again when something else has changed it", async () => {
    await leadership().ensureLeadership(run);
    await updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values: ["Seed=x"], ttl: 1 });
    await leadership()
      .ensureLeadership(run)
      .catch(() => undefined);
    await leadership().ensureLeadership(run);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1, shoot: run.uid });
  });

  test("is put right again when something else lets caches keep it", async () => {
    await leadership().ensureLeadership(run);
    const values = formatLeader({ seed: "seed-1", epoch: 1, shoot: run.uid });
    await updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values, ttl: 60 });
    await expect(lookup.ask(record)).rejects.toThrow("lets caches keep");
    await leadership().ensureLeadership(run);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1, shoot: run.uid });
  });

  test("is not changed by a DNSRecord of an earlier epoch, whichever seed wrote it", async () => {
    await flipped();
    const { namespace } = run;
    const { spec } = (await dnsRecord()) as DNSRecord;
    const secretRef = { name: "late", namespace }; // with the label of the leadership domain, only the Shoot's one record is written
    await gardenClient.apply({ ...leadershipDomain(), metadata: secretRef });
    await gardenClient.create({
      ...{ apiVersion: DNSRecord.apiVersion, kind: DNSRecord.kind },
      metadata: { name: `${run.name}-late`, namespace, annotations: { "gardener.cloud/operation": "reconcile" } },
      spec: { ...spec, secretRef, values: ["Seed=seed-1", "Epoch=1"] },
    });
    await eventually(async () => {
      const late = await gardenClient.read(DNSRecord, { namespace, name: `${run.name}-late` });
      expect(late?.status?.lastError?.description).toContain(
        `cannot let seed-1 lead in epoch 1: ${record} says that seed-2 leads in epoch 2`,
      );
    });
    expect(await lookup.ask(record)).toEqual({ seed: "seed-2", epoch: 2, shoot: run.uid });
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
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1, shoot: run.uid });
  });
});

test("the servers of a zone are found through a resolver, from any name in it", async () => {
  const transports = routed({ "127.0.0.1": dns.endpoint });
  const servers = createZoneServers({ resolvers: [dns.endpoint] }, { transports });
  expect(await servers.of("shoot.project.leadership-perennial.test")).toEqual(["127.0.0.1"]);
  expect(await servers.of("leadership-perennial.test")).toEqual(["127.0.0.1"]);
  await expect(servers.of("example.org")).rejects.toThrow(
    /cannot ask 127.0.0.1:\d+ for NS example.org: it answers REFUSED/,
  );
});

/** A DNSRecord of the run's name that no provider acts on. */
const createRecord = (epoch: string, uid: string) =>
  gardenClient.create<DNSRecord>({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "DNSRecord",
    metadata: {
      ...{ namespace: run.namespace, name: `${run.name}-leadership` },
      annotations: { "perennial.dev/epoch": epoch },
      ownerReferences: [{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", name: run.name, uid }],
    },
    spec: {
      ...{ type: "none", class: "garden", secretRef: { name: "dns", namespace: "garden" } },
      ...{ name: record, recordType: "TXT", values: ["Seed=seed-2", `Epoch=${epoch}`] },
    },
  });

/** The network, in which a server is at another port than its records can say. */
function routed(routes: Readonly<Record<string, string>>): Transports {
  return {
    udp: (server, message, read) => network.udp(routes[server] ?? server, message, read),
    tcp: (server, message, read) => network.tcp(routes[server] ?? server, message, read),
  };
}

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
        "dns.gardener.cloud/domain": "leadership-perennial.test",
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
