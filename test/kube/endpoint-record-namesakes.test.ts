import { expect } from "vitest";
import { EndpointRecord } from "../../src/api/cluster-api/index.ts";
import { DNSRecord } from "../../src/api/index.ts";
import { ENDPOINT_RECORD_LABEL } from "../../src/api/labels.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../src/api/names.ts";
import { createEndpointRecordController } from "../../src/cluster-api/endpoint-record/controller.ts";
import { findCondition } from "../../src/cluster-api/objects/conditions.ts";
import { define, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { readCoreObjects } from "../../src/local/cluster-api/core-objects.ts";
import { applyClusterApiCrds } from "../../src/local/cluster/manifests.ts";
import { createLogger } from "../../src/log.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import { clusterNamed, recordOf } from "../support/endpoint-record-lab.ts";
import { eventually } from "../support/eventually.ts";
import { noteRequests } from "../support/noted-requests.ts";

const test = ownClusterTest({ crds: true });
const namespace = "default";
const shared = "shared.perennial.test";
const log = createLogger({ name: "test", level: "silent" });
let client: KubeClient;
let controller: ReturnType<typeof createEndpointRecordController> | undefined;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  await define(client, (await readCoreObjects()).definitions);
  await applyClusterApiCrds(client);
  await client.apply({ ...typeMeta(Secret), metadata: { namespace, name: "dns" } });
});
test.afterEach(async () => {
  await controller?.stop();
});

function start(management: KubeClient): void {
  const events = { record: () => undefined, settled: async () => {} };
  controller = createEndpointRecordController({ management, garden: client, events, log }, { period: 200 });
  controller.start();
}

/** A Cluster, and a record of it with the shared name and the finalizer, which any user may write. */
async function create(name: string): Promise<void> {
  await client.create(clusterNamed({ namespace, name }));
  const { metadata, ...record } = recordOf({ namespace, name }, { name: shared });
  await client.create({ ...record, metadata: { ...metadata, finalizers: [ENDPOINT_RECORD_FINALIZER] } });
}

const reasonOf = async (name: string) =>
  findCondition((await client.read(EndpointRecord, { namespace, name }))?.status?.conditions, "Published")?.reason;
const reasonsOf = async () =>
  (await client.list(EndpointRecord, { namespace })).map(
    ({ status }) => findCondition(status?.conditions, "Published")?.reason,
  );

test("who has a name is not asked of the API server for each pair of records that want it", async () => {
  const count = 40;
  await create("first");
  const asked: string[] = [];
  start(noteRequests(client, asked));
  await eventually(async () => expect(await reasonOf("first")).toBe("WaitingForMachines"));
  for (let at = 0; at < count; at += 1) await create(`namesake-${at}`);
  await eventually(async () =>
    expect((await reasonsOf()).filter((reason) => reason === "NameTaken")).toHaveLength(count),
  );
  expect(asked.filter((method) => method === "read").length).toBeLessThan(count);
  // The name goes to one of them once the first has gone, and all hear of it.
  await client.remove(refTo(EndpointRecord, { namespace, name: "first" }));
  await eventually(async () => {
    const reasons = await reasonsOf();
    expect(reasons.filter((reason) => reason === "NameTaken")).toHaveLength(count - 1);
    expect(reasons).toContain("WaitingForMachines");
  });
  expect(asked.filter((method) => method === "read").length).toBeLessThan(count);
});

test("a record keeps its name while its DNSRecord exists, also where the watch of DNSRecords does not show it", async () => {
  for (const name of ["one", "two"]) {
    await client.create(clusterNamed({ namespace, name }));
    const { spec, ...record } = recordOf({ namespace, name }, { name: "kept.perennial.test" });
    const provider = { ...spec.provider, secretRef: { name: `dns-${name}` } };
    await client.create({ ...record, spec: { ...spec, provider } });
    await client.apply({ ...typeMeta(Secret), metadata: { namespace, name: `dns-${name}` } });
    if (name === "one") {
      start(blindTo(client, DNSRecord.kind));
      await eventually(async () => expect(await reasonOf("one")).toBe("WaitingForMachines"));
    }
  }
  await eventually(async () => expect(await reasonOf("two")).toBe("NameTaken"));
  const { uid = "" } = (await client.read(EndpointRecord, { namespace, name: "one" }))?.metadata ?? {};
  await client.create<DNSRecord>({
    ...typeMeta(DNSRecord),
    metadata: { namespace, name: "one", labels: { [ENDPOINT_RECORD_LABEL]: uid } },
    spec: {
      ...{ type: "rfc2136", class: "garden", name: "kept.perennial.test", recordType: "A", values: ["192.0.2.1"] },
      secretRef: { name: "dns-one", namespace },
    },
  });
  await client.remove(refTo(Secret, { namespace, name: "dns-one" }));
  await eventually(async () => expect(await reasonOf("one")).toBe("NoCredentials"));
  expect(await reasonOf("two")).toBe("NameTaken");
});

/** The client, whose watches of a kind begin with nothing and stay silent. */
function blindTo(of: KubeClient, kind: string): KubeClient {
  const blind: Partial<KubeClient> = {
    snapshot: async (...o) => (o[0].kind === kind ? { items: [], resourceVersion: "1" } : await of.snapshot(...o)),
    watch: (...o) => (o[0].kind === kind ? silence(o[1].signal) : of.watch(...o)),
  };
  return { ...of, ...blind };
}

async function* silence(signal: AbortSignal): AsyncGenerator<never> {
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  yield* [];
}
