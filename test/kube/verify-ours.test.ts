import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import type { KubeObject } from "../../src/api/index.ts";
import { clauses } from "../../src/conformance/clauses/index.ts";
import type { Subject } from "../../src/conformance/subject.ts";
import { verifyExtension } from "../../src/conformance/verify.ts";
import { openGuard } from "../../src/extension/index.ts";
import type { MachineSpec, MachineStatus } from "../../src/local/machine/machine.ts";
import type { Machines } from "../../src/local/machine/machines.ts";
import {
  createReflector,
  PersistentVolume,
  PersistentVolumeClaim,
  refOf,
  type Kind,
  type Reflector,
} from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createProvider, type Provider } from "../../src/provider-local/provider.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";
import { seconds } from "../support/patience.ts";

const log = createLogger({ name: "test", level: "silent" });
let plane: ControlPlane;
let dns: TestNameServer;
let directory: string;
let provider: Provider;
let protections: readonly Reflector<KubeObject>[];

test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  dns = await startNameServer();
  directory = await mkdtemp(join(tmpdir(), "verify-ours-"));
  await mkdir(join(directory, "buckets/verify"), { recursive: true });
  protections = [PersistentVolume, PersistentVolumeClaim].map(endProtection);
  for (const protection of protections) protection.start();
  await restart();
});
afterAll(async () => {
  await provider.stop();
  await Promise.all(protections.map((protection) => protection.stop()));
  await dns.stop();
  await rm(directory, { recursive: true, force: true });
});

/** What kube-controller-manager does of volumes that no pod uses: they may go. */
const endProtection = (kind: typeof PersistentVolume | typeof PersistentVolumeClaim) =>
  createReflector(plane.client, kind as Kind<KubeObject>, {
    async onEvent({ type, object }) {
      if (type === "deleted" || object.metadata.deletionTimestamp === undefined) return;
      await plane.client.patch(refOf(object), { metadata: { finalizers: null } });
    },
  });

/** Machines that need no root: those that a Worker has asked for, by name. What they run is of no account to the contract. */
const running = new Map<string, MachineStatus>();
const machines: Machines = {
  async ensure({ name, labels }: MachineSpec) {
    const status = { name, labels, running: true, providerID: `local:///${name}`, address: "172.30.0.9" };
    running.set(name, status as unknown as MachineStatus);
    return status as unknown as MachineStatus;
  },
  revive: async () => undefined,
  kubeletLog: async () => "",
  list: async (labels = {}) =>
    [...running.values()].filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value)),
  remove: async (name) => void running.delete(name),
  configureNetwork: async () => undefined,
  addAddress: async () => undefined,
  removeAddress: async () => undefined,
};

/** Ends what the provider is at, as a process that is told to stop does, and starts another. */
async function restart(): Promise<void> {
  await provider?.stop();
  const environment = {
    name: "test",
    stateDir: directory,
    bridge: "pn-test",
    network: "172.30.0.0/16",
    gateway: "172.30.0.1",
    domain: "perennial.test",
  };
  const nameServer = { server: dns.server, zone: dns.zone };
  const deps = { client: plane.client, seed: "seed-1", environment, machines, nameServer, guard: openGuard, log };
  provider = createProvider(deps);
  await provider.start();
}

const userData: KubeObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "user-data" },
  stringData: { cloud_config: '{"files":[],"units":[]}' },
};

const stateless = ["migrate.state", "restore.state", "wait-for-state.written"];

/** Of what succeeds without credentials, no error is known. */
const faultless = clauses.map(({ id }) => id).filter((id) => id.startsWith("error."));

/** What is told of a Shoot is not for what belongs to none, and such a thing does not move. */
const shootless = ["failed-shoot.left-alone", "failed-shoot.resumed", "force-deletion.gone"];
const unmoved = clauses.map(({ id }) => id).filter((id) => /^(migrate|migrated|wait-for-state|restore)\./.test(id));

const bare = ["retrigger.kept", ...stateless, ...faultless];

/** Each kind with the clauses by which it cannot be judged. */
const subjects: readonly (Subject & { readonly unjudged: readonly string[] })[] = [
  { kind: "Infrastructure", type: "local", unjudged: stateless },
  { kind: "ControlPlane", type: "local", unjudged: bare },
  { kind: "Network", type: "local", unjudged: bare },
  { kind: "OperatingSystemConfig", type: "local", unjudged: bare },
  { kind: "Worker", type: "local", objects: [userData], unjudged: faultless },
  { kind: "DNSRecord", type: "rfc2136", spec: { name: "api.verify.perennial.test" }, unjudged: bare },
  { kind: "BackupBucket", type: "local", unjudged: ["retrigger.kept", ...faultless, ...shootless, ...unmoved] },
  { kind: "BackupEntry", type: "local", spec: { bucketName: "verify" }, unjudged: [...faultless, ...shootless] },
];

test.for(subjects)("our $kind keeps the contract", { timeout: seconds(120) }, async ({ unjudged, ...subject }) => {
  const report = await verifyExtension({
    client: plane.client,
    subject: { ...subject, restart },
    pace: { timeout: 15_000, settle: 500 },
    log,
    signal: new AbortController().signal,
  });
  const found = (verdict: string) => report.clauses.filter((clause) => clause.verdict === verdict);
  expect(found("failed")).toEqual([]);
  const skipped = found("not judged");
  expect(skipped.map(({ id }) => id).toSorted()).toEqual(unjudged.toSorted());
  expect(skipped.every(({ evidence }) => evidence !== "")).toBe(true);
  expect(report.left).toEqual([]);
  expect([...running.keys()]).toEqual([]);
});
