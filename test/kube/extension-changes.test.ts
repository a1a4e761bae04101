import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect } from "vitest";
import { readChangeable } from "../../src/activities/extensions/existing.ts";
import { createExtensions } from "../../src/activities/extensions/extensions.ts";
import { WAIT_ANNOTATION } from "../../src/api/annotations.ts";
import { DNSRecord, Shoot } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { test as it } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedGroup, notedWaits } from "../support/noted-waits.ts";
import { answerFor, infrastructureOf } from "../support/waiting-lab.ts";

let kube: KubeClient;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await applyGarden(kube);
});

const newShoot = () => createShoot(kube, `changed-${(count += 1)}`);
const extensions = () => createExtensions({ gardenClient: kube, seedClient: kube, waits: notedWaits });

describe("applying an Infrastructure asks a controller that is done", () => {
  const applyInfrastructure = async (run: ShootRun) => {
    await extensions().apply(run, "Infrastructure", "infrastructure");
    return (await kube.read(infrastructureOf(run)))?.metadata.annotations?.["gardener.cloud/operation"];
  };
  const shootOf = ({ namespace, name }: ShootRun) => refTo(Shoot, { namespace, name });
  const configure = (run: ShootRun, infrastructureConfig: object | null) =>
    kube.patch(shootOf(run), { spec: { provider: { infrastructureConfig } } });
  const write = (run: ShootRun, spec: object) =>
    kube.patch(infrastructureOf(run), { spec }, { fieldManager: "somebody-else" });
  const specOf = async (run: ShootRun) => (await kube.read(infrastructureOf(run)))?.spec;
  const settled = async () => {
    const run = await newShoot();
    await configure(run, { vpc: { cidr: "10.0.0.0/8", flowLogs: true }, zones: ["a", "b"] });
    await applyInfrastructure(run);
    await answerFor(kube, infrastructureOf(run), {});
    expect(await applyInfrastructure(run)).toBeUndefined();
    return run;
  };

  it("again when something is gone from what the user wrote, which goes from the object too", async () => {
    const run = await settled();
    await configure(run, { vpc: { flowLogs: null } });
    expect(await applyInfrastructure(run)).toBe("reconcile");
    expect((await specOf(run))?.providerConfig).toEqual({ vpc: { cidr: "10.0.0.0/8" }, zones: ["a", "b"] });

    await answerFor(kube, infrastructureOf(run), {});
    await configure(run, null);
    expect(await applyInfrastructure(run)).toBe("reconcile");
    expect(await specOf(run)).not.toHaveProperty("providerConfig");
  });

  it("again when it has not seen what there is, also where another user wrote that", async () => {
    const run = await settled();
    await write(run, { sshPublicKey: "cw==" });
    expect(await applyInfrastructure(run)).toBe("reconcile");
  });

  it("not again for what is another's and it has seen", async () => {
    const run = await settled();
    await write(run, { sshPublicKey: "cw==" });
    await answerFor(kube, infrastructureOf(run), {});
    expect(await applyInfrastructure(run)).toBeUndefined();
    expect(await specOf(run)).toMatchObject({ sshPublicKey: "cw==" });
  });
});

describe("a DNSRecord", () => {
  const finalizers = ["extensions.gardener.cloud/dnsrecord"];
  const recordOf = (run: ShootRun) => refTo(DNSRecord, { namespace: run.technicalID, name: "api" });
  const applyRecord = (run: ShootRun, spec: Spec) => {
    const secretRef = { name: "dns", namespace: run.technicalID };
    const object = {
      ...typeMeta(DNSRecord),
      metadata: { name: "api", namespace: run.technicalID },
      spec: { type: "local", secretRef, name: "api.example.com", ...spec },
    };
    return extensions().applyObject(run, object, "DNSRecord", notedGroup("internalDns", 1));
  };
  type Spec = Partial<DNSRecord["spec"]>;
  const address: Spec = { recordType: "A", values: ["10.0.0.1"] };
  const name: Spec = { recordType: "CNAME", values: ["lb.example.com"] };
  const applied = async () => {
    const run = await newShoot();
    await applyRecord(run, { ...address, zone: "example.com" });
    await kube.patch(recordOf(run), { metadata: { finalizers } });
    await answerFor(kube, recordOf(run), {});
    return { run, before: await kube.read(recordOf(run)) };
  };

  it("is asked for again when its zone is dropped, and only then", async () => {
    const { run, before } = await applied();
    expect(await applyRecord(run, { ...address, zone: "example.com" })).toMatchObject({
      timestamp: before?.metadata.annotations?.["gardener.cloud/timestamp"],
    });
    await applyRecord(run, address);
    const after = await kube.read(recordOf(run));
    expect(after?.spec).not.toHaveProperty("zone");
    expect(after?.metadata.annotations).toMatchObject({ "gardener.cloud/operation": "reconcile" });
  });

  it("is made anew, once the one before has gone, when the address turns into a name", async () => {
    const { run, before } = await applied();
    const anew = applyRecord(run, name);
    await eventually(async () => {
      const { deletionTimestamp, annotations } = (await kube.read(recordOf(run)))?.metadata ?? {};
      expect(deletionTimestamp).toBeDefined();
      expect(annotations).toMatchObject({ "confirmation.gardener.cloud/deletion": "true" });
    });
    await kube.patch(recordOf(run), { metadata: { finalizers: null } });
    expect(await anew).toMatchObject({ until: "ready", name: "api" });
    const after = await kube.read(recordOf(run));
    expect(after).toMatchObject({
      metadata: {
        annotations: { "gardener.cloud/operation": "reconcile", [WAIT_ANNOTATION]: "internalDns/wait of 1" },
      },
      spec: name,
    });
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
  });

  it("is made anew by a worker that comes after one that died over it", async () => {
    const { run } = await applied();
    await kube.remove(recordOf(run));
    const anew = applyRecord(run, name);
    await sleep(500); // it finds the one that is still going
    await kube.patch(recordOf(run), { metadata: { finalizers: null } });
    await anew;
    expect(await kube.read(recordOf(run))).toMatchObject({ spec: name });
  });

  it("is not made anew while the one before stays, and that says why", async () => {
    const { run, before } = await applied();
    const lastError = { description: "no access to the zone", codes: ["ERR_INFRA_UNAUTHORIZED"] };
    await answerFor(kube, recordOf(run), { state: "Error", lastError });
    const wanted = { ...typeMeta(DNSRecord), metadata: before?.metadata ?? { name: "api" }, spec: name };
    await expect(readChangeable(kube, wanted, 0)).rejects.toMatchObject({
      message: `cannot make DNSRecord ${run.technicalID}/api anew as CNAME: the one of type A is not gone: no access to the zone`,
      codes: ["ERR_INFRA_UNAUTHORIZED"],
    });
  });
});
