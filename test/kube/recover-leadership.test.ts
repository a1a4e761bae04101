import { afterAll, beforeEach, describe, expect } from "vitest";
import { createGardenActivities } from "../../src/activities/garden.ts";
import { createLeadership } from "../../src/activities/leadership/leadership.ts";
import { IGNORE_ANNOTATION } from "../../src/api/annotations.ts";
import { DNSRecord, Shoot } from "../../src/api/index.ts";
import { moveOf } from "../../src/api/placement/move.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { runCli } from "../../src/cli/perennial.ts";
import { createContext } from "../../src/cli/connection.ts";
import { registry } from "../../src/cli/registry.ts";
import type { ShootClient } from "../../src/client/shoots.ts";
import { createLeaderLookup, createZoneServers } from "../../src/dns/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { updateRecords } from "../../src/provider-local/dns/name-server.ts";
import { createGardenProvider } from "../../src/provider-local/garden.ts";
import type { Provider } from "../../src/provider-local/provider.ts";
import { admissionTest, type AdmissionLab } from "../support/admission-lab.ts";
import { applyFencing } from "../support/fencing.ts";
import { rememberKeyspace } from "../support/keyspace.ts";
import { createMovableShoot, registerReadySeed } from "../support/movable-shoots.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";
import { shootRun } from "../support/shoot-run.ts";
import { fakeTerminal } from "../unit/cli/fake-terminal.ts";

const test = admissionTest;
const log = createLogger({ name: "test", level: "silent" });
let lab: AdmissionLab;
let etcdUrl: string;
let dns: TestNameServer;
let provider: Provider;
let name: string;
let running: ShootRun | undefined;
let count = 0;

test.beforeAll(async ({ cluster }) => await applyFencing(cluster.client, "garden"));
test.beforeAll(async ({ admissionLab, cluster }) => {
  lab = admissionLab;
  etcdUrl = cluster.etcdUrl;
  dns = await startNameServer("leadership-perennial.test");
  for (const seed of ["seed-1", "seed-2"]) await registerReadySeed(lab.client, seed);
  await lab.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden" } });
  await lab.client.apply(leadershipDomain());
  provider = createGardenProvider({ client: lab.client, log });
  await provider.start();
});
afterAll(async () => {
  await provider.stop();
  await dns.stop();
});

beforeEach(async () => {
  name = `r${(count += 1)}`;
  running = undefined;
  await createMovableShoot(lab.client, name, { leadership: undefined });
  await leadership().ensureLeadership(await runOf("seed-1", 1));
});

describe("a Shoot of a garden that was restored to before the Shoot moved", () => {
  test("is stuck until its leader is taken over from the record, and then reconciles and moves", async () => {
    await restoredToBeforeTheMove();
    const stuck = leadership().ensureLeadership(await runOf("seed-1", 1));
    await expect(stuck).rejects.toThrow(`perennial shoot recover-leadership garden-dev/${name}`);
    const plan = await recover("--whole", "--plan");
    expect(plan).toMatchObject({ exit: 0, out: expect.stringContaining("Reconcile on Seed seed-2") });
    expect((await shoot()).status?.leadership).toMatchObject({ seed: "seed-1", epoch: 1 });

    expect(await recover("--whole", "--yes")).toMatchObject({
      exit: 0,
      out: `Seed seed-2 leads Shoot garden-dev/${name} in epoch 2, as its record says\n`,
    });
    const recovered = await shoot();
    expect(recovered.spec.seedName).toBe("seed-2");
    expect(recovered.status).toMatchObject({
      seedName: "seed-2",
      seeds: ["seed-1", "seed-2"],
      leadership: { seed: "seed-2", epoch: 2 },
      lastOperation: { type: "Reconcile", state: "Pending" },
    });
    expect(moveOf(recovered)).toEqual({ is: "settled", leader: "seed-2" });
    expect(recovered.metadata.annotations ?? {}).not.toHaveProperty([IGNORE_ANNOTATION]);
    expect(recovered.metadata.annotations ?? {}).not.toHaveProperty(["perennial.dev/cancel-migration"]);

    await leadership().ensureLeadership(await runOf("seed-2", 2));
    expect((await dnsRecord())?.metadata.annotations?.["perennial.dev/epoch"]).toBe("2");
    await moveTo("seed-1", 2);
    expect(await lookup().ask(record())).toMatchObject({ seed: "seed-1", epoch: 3 });
    expect(await recover("--whole", "--yes")).toMatchObject({
      exit: 1,
      err: expect.stringContaining("nothing to recover"),
    });
  });

  test("begins no move before that, nor an epoch of a Shoot that returns", async () => {
    await restoredToBeforeTheMove();
    const run = { ...(await runOf("seed-1", 1)), migration: way("seed-1", "seed-2") };
    const found = expect.objectContaining({ message: expect.stringContaining("recover-leadership") });
    await expect(activities().checkMigration({ ...run, operation: "Migrate" })).rejects.toEqual(found);
    const back = { ...way("seed-1", "seed-1"), returning: true } as const;
    const returning = { ...run, epoch: 2, operation: "Restore", migration: back } as const;
    await expect(activities().beginOperation(returning)).rejects.toEqual(found);
    const { leadership: led, lastErrors } = (await shoot()).status ?? {};
    expect(led).toMatchObject({ seed: "seed-1", epoch: 1 });
    expect(lastErrors?.[0]).toMatchObject({ codes: ["ERR_CONFIGURATION_PROBLEM"] });
  });

  test("goes on with the Restore that still runs", async () => {
    await restoredToBeforeTheMove();
    running = { ...(await runOf("seed-2", 2)), operation: "Restore", migration: way("seed-1", "seed-2") };
    expect(await recover("--yes")).toMatchObject({
      exit: 0,
      err: expect.stringContaining("Restore on Seed seed-2, from Seed seed-1"),
    });
    expect(moveOf(await shoot())).toMatchObject({ is: "arriving", source: "seed-1", destination: "seed-2" });
  });

  test("is called back from a Migrate that still runs", async () => {
    await restoredToBeforeTheMove();
    running = { ...(await runOf("seed-2", 2)), operation: "Migrate", migration: way("seed-2", "seed-1") };
    expect(await recover("--yes")).toMatchObject({ exit: 0 });
    expect(moveOf(await shoot())).toEqual({ is: "returning", leader: "seed-2" });
  });

  test("is recovered in a second try when the first one was cut off", async () => {
    await restoredToBeforeTheMove();
    await lab.client.patch(ref(), { metadata: { annotations: { [IGNORE_ANNOTATION]: "true" } } });
    const description = "Leadership was taken over from the record: Seed seed-2 leads in epoch 2";
    const lastOperation = { type: "Reconcile", state: "Pending", progress: 0, description };
    const led = { seed: "seed-2", epoch: 2 };
    const status = { leadership: led, seedName: "seed-2", lastOperation };
    await lab.client.patch(ref(), { status }, { subresource: "status" });
    expect(await recover("--whole", "--yes")).toMatchObject({
      exit: 0,
      out: expect.stringContaining(`it is ignored until its annotation ${IGNORE_ANNOTATION} is removed`),
    });
    expect((await shoot()).spec.seedName).toBe("seed-2");
  });
});

describe("a garden that is older than the record", () => {
  const found = () =>
    new RegExp(
      `${record()} names seed-2 in epoch 2, .+status.leadership names seed-1 in epoch 1.+ perennial shoot recover-leadership garden-dev/${name}$`,
    );

  test("decides no flip, also not in a takeover, and names the verb", async () => {
    await restoredToBeforeTheMove();
    await lab.client.patch(ref(), { spec: { seedName: "seed-2" } });
    const before = (await shoot()).status;
    for (const takeover of [false, true]) {
      const migration = { ...way("seed-1", "seed-2"), takeover };
      const flip = leadership().flip({ ...(await runOf("seed-1", 1)), operation: "Migrate", migration });
      await expect(flip).rejects.toThrow(found());
      await expect(flip).rejects.toMatchObject({ codes: ["ERR_CONFIGURATION_PROBLEM"], retryable: false });
    }
    expect((await shoot()).status).toEqual(before);
  });

  test("reconciles and deletes nothing, and leaves the record alone", async () => {
    await restoredToBeforeTheMove();
    const run = await runOf("seed-1", 1);
    await expect(leadership().ensureLeadership(run)).rejects.toThrow(found());
    await expect(leadership().confirmLeadership(run)).rejects.toThrow(found());
    expect(await lookup().ask(record())).toMatchObject({ seed: "seed-2", epoch: 2 });
  });

  test("makes no first leader of a Shoot that has lost its status", async () => {
    name = `${name}-lost`;
    await createMovableShoot(lab.client, name, { leadership: undefined });
    await say("seed-2", 2);
    const first = leadership().ensureLeadership(await runOf("seed-1", 1));
    await expect(first).rejects.toThrow("status.leadership names no leader");
    await expect(first).rejects.toMatchObject({ codes: ["ERR_CONFIGURATION_PROBLEM"], retryable: false });
    expect((await shoot()).status).not.toHaveProperty("leadership");
    expect(await dnsRecord()).toBeUndefined();
    expect(await recover("--whole", "--yes")).toMatchObject({ exit: 0 });
    await leadership().ensureLeadership(await runOf("seed-2", 2));
  });

  test("may be one where a server of the zone is silent: no flip is decided before it answers", async () => {
    await lab.client.patch(ref(), { spec: { seedName: "seed-2" } });
    const silent = createLeaderLookup(createZoneServers({ servers: [dns.endpoint, "127.0.0.1:9"] }));
    const run = { ...(await runOf("seed-1", 1)), operation: "Migrate", migration: way("seed-1", "seed-2") } as const;
    const flip = createLeadership({ gardenClient: lab.client, lookup: silent }).flip(run);
    await expect(flip).rejects.toThrow(/server 127.0.0.1:9 does not answer/);
    await expect(flip).rejects.toMatchObject({ retryable: true });
    expect((await shoot()).status?.leadership).toMatchObject({ seed: "seed-1", epoch: 1 });
  });
});

describe("a leader is not taken over from a record", () => {
  test.for<[string, () => Promise<void> | void, RegExp]>([
    ["without a word on how far the Seed has got", () => undefined, /add --whole, or --restore-from SEED/],
    ["while an operation of a later epoch runs", runLater, /Restore of epoch 3 is running/],
    ["of another Shoot of the name", () => say("seed-2", 2, "earlier"), /the record of a Shoot with uid earlier/],
    ["that names a Seed which the garden does not have", () => say("seed-9", 2), /Seed seed-9, .+ does not exist/],
    ["of an earlier epoch than the status", () => say("seed-1", 1), /nothing to recover/],
  ])("%s", async ([, prepare, reason]) => {
    await restoredToBeforeTheMove();
    await prepare();
    const before = await shoot();
    const words = reason.source.includes("whole") ? [] : ["--whole"];
    expect(await recover(...words, "--yes")).toMatchObject({ exit: 1, err: expect.stringMatching(reason) });
    expect(await shoot()).toEqual(before);
  });

  test("while a server of the zone is silent, or names another leader", async () => {
    await restoredToBeforeTheMove();
    const silent = await recoverBy([dns.endpoint, "127.0.0.1:9"], "--whole", "--yes");
    expect(silent).toMatchObject({ exit: 1, err: expect.stringMatching(/server 127.0.0.1:9 does not answer/) });
    const secondary = await dns.addSecondary(3_600);
    await say("seed-1", 3);
    const differ = await recoverBy([dns.endpoint, secondary.endpoint], "--whole", "--yes");
    expect(differ).toMatchObject({ exit: 1, err: expect.stringContaining("all servers have to agree") });
    expect((await shoot()).status?.leadership).toMatchObject({ seed: "seed-1", epoch: 1 });
  });
});

/** The Shoot moves to seed-2, and then the garden has again what it had before. */
async function restoredToBeforeTheMove(): Promise<void> {
  const backup = await rememberKeyspace(etcdUrl);
  await moveTo("seed-2", 1);
  await backup.restore();
}

async function moveTo(destination: string, epoch: number): Promise<void> {
  const { spec, status: before } = await shoot();
  const source = spec.seedName ?? "";
  const status = { seeds: [source], lastOperation: { ...before?.lastOperation, state: "Succeeded" } };
  await lab.client.patch(ref(), { status }, { subresource: "status" });
  await lab.client.patch(ref(), { spec: { seedName: destination } });
  const run = await runOf(source, epoch);
  await leadership().flip({ ...run, operation: "Migrate", migration: way(source, destination) });
}

async function runLater(): Promise<void> {
  running = { ...(await runOf("seed-2", 3)), operation: "Restore" };
}

async function say(seed: string, epoch: number, uid?: string): Promise<void> {
  const values = [`Seed=${seed}`, `Epoch=${epoch}`, `Shoot=${uid ?? (await shoot()).metadata.uid}`];
  await updateRecords(dns.server, dns.zone, { name: record(), type: "TXT", values, ttl: 0 });
}

const recover = (...words: string[]) => recoverBy([dns.endpoint], ...words);

/** The CLI with the zone's servers; of Temporal it learns what is running. */
async function recoverBy(servers: readonly string[], ...words: string[]) {
  const terminal = fakeTerminal();
  const variables = {
    PERENNIAL_GARDEN_KUBECONFIG: lab.kubeconfig,
    PERENNIAL_STATE_DIR: "/nonexistent",
    PERENNIAL_ZONE_SERVERS: servers.join(),
  };
  const { context, close } = createContext({ terminal, variables, signal: new AbortController().signal });
  const flows = async () => ({ running: async () => running }) as unknown as ShootClient;
  const argv = ["shoot", "recover-leadership", `garden-dev/${name}`, ...words];
  const exit = await runCli(argv, registry, { ...context, flows });
  await close();
  return { exit, out: terminal.out.text(), err: terminal.err.text() };
}

const lookup = () => createLeaderLookup(createZoneServers({ servers: [dns.endpoint] }));
const leadership = () =>
  createLeadership({ gardenClient: lab.client, lookup: lookup(), timeout: 10_000, triedBefore: () => false });
const activities = () =>
  createGardenActivities({ gardenClient: lab.client, lookup: lookup(), log } as Parameters<
    typeof createGardenActivities
  >[0]);
const record = () => `${name}.dev.leadership-perennial.test`;
const way = (source: string, destination: string) => ({ source, destination, takeover: false });
const ref = () => refTo(Shoot, { namespace: "garden-dev", name });
const dnsRecord = () => lab.client.read(DNSRecord, { namespace: "garden-dev", name: `${name}-leadership` });

async function shoot(): Promise<Shoot> {
  const found = await lab.client.read(ref());
  if (found === undefined) throw new Error("the Shoot is gone");
  return found;
}

async function runOf(seedName: string, epoch: number): Promise<ShootRun> {
  const { uid = "" } = (await shoot()).metadata;
  return shootRun({ namespace: "garden-dev", name, uid, seedName, epoch, leadershipRecord: record() });
}

function leadershipDomain() {
  const annotations = {
    "dns.gardener.cloud/domain": "leadership-perennial.test",
    "dns.gardener.cloud/provider": "rfc2136",
  };
  const { name: TSIGKeyName, secret: TSIGSecret, algorithm: TSIGSecretAlgorithm } = dns.key;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      ...{ name: "leadership-domain", namespace: "garden", annotations },
      labels: { "gardener.cloud/role": "leadership-domain" },
    },
    stringData: { Server: dns.endpoint, Zone: dns.zone, TSIGKeyName, TSIGSecret, TSIGSecretAlgorithm },
  };
}
