import { beforeEach, describe, expect } from "vitest";
import { createSeedActivities } from "../../src/activities/seed.ts";
import type { SeedActivities } from "../../src/activities/index.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { DNSRecord, Extension, Shoot } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test as it } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { newKeyring } from "../support/state-keys.ts";

const log = createLogger({ name: "test", level: "silent" });
let kube: KubeClient;
let activities: SeedActivities;
let run: ShootRun;
let count = 0;

const base64 = (text: string) => Buffer.from(text).toString("base64");

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
  const completer = { complete: async () => true, fail: async () => true };
  activities = createSeedActivities({
    ...{ gardenClient: kube, seedClient: kube, shootClients: createShootClients(kube, log), completer, log },
    ...{ waits: notedWaits, keys: newKeyring() },
  });
});

const putSecret = (name: string, password: string) =>
  kube.apply<Secret>({
    ...typeMeta(Secret),
    metadata: { name, namespace: "garden-dev" },
    data: { password: base64(password) },
  });
const copyOf = async (name: string) =>
  (await kube.read(Secret, { namespace: run.technicalID, name }))?.data?.["password"];

describe("the removal of a DNSRecord", () => {
  const recordName = () => `${run.name}-external`;
  const copied = () => copyOf(`dnsrecord-${recordName()}`);
  const remove = (change: Partial<ShootRun> = {}) =>
    activities.removeExtension({ ...run, ...change }, "DNSRecord", "removeExternalDns", "external");

  beforeEach(async () => {
    const name = `leaving-${(count += 1)}`;
    await putSecret(`${name}-dns`, "old");
    const providers = [{ type: "local", primary: true, secretName: `${name}-dns` }];
    const created = await createShoot(kube, name, { dns: { domain: `${name}.dev.perennial.test`, providers } });
    run = { ...created, operation: "Delete", hasExternalDomain: true };
    const secret = { name: `dnsrecord-${recordName()}`, namespace: run.technicalID };
    await kube.apply<Secret>({
      ...typeMeta(Secret),
      metadata: secret,
      type: "Opaque",
      data: { password: base64("old") },
    });
    await createRecord("local");
  });

  const createRecord = (type: string) =>
    kube.apply<DNSRecord>({
      ...typeMeta(DNSRecord),
      metadata: { name: recordName(), namespace: run.technicalID, finalizers: ["test.example.org/dns"] },
      spec: {
        ...{ type, name: `api.${run.name}.dev.perennial.test`, recordType: "A", values: ["10.0.0.1"] },
        secretRef: { name: `dnsrecord-${recordName()}`, namespace: run.technicalID },
      },
    });

  it("uses the credentials that have replaced others in the garden", async () => {
    await putSecret(`${run.name}-dns`, "new");
    expect(await remove()).toMatchObject([{ kind: "DNSRecord", name: recordName(), until: "gone" }]);
    expect(await copied()).toBe(base64("new"));
    await putSecret(`${run.name}-dns`, "newest");
    await remove(); // the operator's retry of a record whose controller has failed
    expect(await copied()).toBe(base64("newest"));
  });

  it("goes on with those that it has where the garden has none any more", async () => {
    await kube.remove(refTo(Secret, { namespace: "garden-dev", name: `${run.name}-dns` }));
    expect(await remove()).toHaveLength(1);
    expect(await copied()).toBe(base64("old"));
  });

  it("never takes those of another provider", async () => {
    await kube.patch(refTo(Shoot, run), {
      spec: { dns: { providers: [{ type: "other", primary: true, secretName: `${run.name}-dns` }] } },
    });
    await putSecret(`${run.name}-dns`, "of-other");
    expect(await remove()).toHaveLength(1);
    expect(await copied()).toBe(base64("old"));
  });

  it("copies nothing by force, after a move, or for a record that is gone", async () => {
    await putSecret(`${run.name}-dns`, "new");
    await remove({ forced: true });
    await remove({ operation: "Migrate" });
    await kube.patch(refTo(DNSRecord, { namespace: run.technicalID, name: recordName() }), {
      metadata: { finalizers: null },
    });
    expect(await remove()).toEqual([]);
    expect(await copied()).toBe(base64("old"));
  });
});

describe("the removal of an Extension", () => {
  const extension = () => ({ namespace: run.technicalID, name: "one" });
  const remove = () => activities.removeExtension(run, "Extension", "removeExtensions");
  const say = (status: object) => kube.patch(refTo(Extension, extension()), { status }, { subresource: "status" });
  const operation = { type: "Delete", description: "", progress: 50, lastUpdateTime: "2026-11-30T10:00:00Z" };

  beforeEach(async () => {
    const name = `leaving-${(count += 1)}`;
    await putSecret(`${name}-token`, "old");
    const resourceRef = { apiVersion: "v1", kind: "Secret", name: `${name}-token` };
    const created = await createShoot(kube, name, { resources: [{ name: "token", resourceRef }] });
    run = { ...created, operation: "Delete", hasReferences: true };
    await activities.deployReferencedResources(run);
    const metadata = { ...extension(), finalizers: ["test.example.org/extension"] };
    await kube.apply<Extension>({ ...typeMeta(Extension), metadata, spec: { type: "one" } });
    await putSecret(`${name}-token`, "new");
  });

  it("is asked again with what the Shoot refers to as it is now, once its controller has failed", async () => {
    await say({ lastOperation: { ...operation, state: "Processing" } });
    await remove();
    expect(await copyOf(`ref-${run.name}-token`)).toBe(base64("old"));
    await say({ lastOperation: { ...operation, state: "Error" }, lastError: { description: "no such token" } });
    expect(await remove()).toHaveLength(1);
    expect(await copyOf(`ref-${run.name}-token`)).toBe(base64("new"));
  });
});
