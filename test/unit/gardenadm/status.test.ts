import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { issueAuthority, issueCertificate } from "../../../src/activities/secrets/pki.ts";
import { AGENT, dueCertificates, findCertificates, KUBELET } from "../../../src/gardenadm/machine/certificates.ts";
import { reportMembers, type MemberReport } from "../../../src/gardenadm/status/etcd.ts";
import { readMachine } from "../../../src/gardenadm/status/read.ts";
import { roomCommand } from "../../../src/gardenadm/status/room.ts";
import { lastRunOf, nextSteps, type MachineReport } from "../../../src/gardenadm/status/report.ts";
import type { JournalEntry } from "../../../src/in-process/journal.ts";
import { renderKubeconfig } from "../../../src/kube/index.ts";

const now = Date.parse("2026-11-24T00:00:00Z");
const ready = { ready: true };
const member = (name: string, more: Partial<MemberReport> = {}): MemberReport => ({
  ...{ name, role: "voter", answers: true, lag: 0, size: 1 },
  ...more,
});

/** The same with these members of etcd-main. */
const withMembers = (...members: readonly MemberReport[]): Partial<MachineReport> => ({
  etcds: [{ name: "etcd-main", members }],
});

const well: MachineReport = {
  host: "a",
  role: "control-plane",
  imported: true,
  configDirectory: "/root/config",
  ...{ kubelet: ready, apiServer: ready },
  etcds: ["etcd-main", "etcd-events"].map((name) => ({ name, members: [member("a", { role: "leader" })] })),
  backup: { last: { name: "etcd-backup-1-x.db", takenAt: "2026-11-23T23:55:00.000Z", size: 1_000_000 } },
  nodes: [{ name: "a", ready: true }],
  certificates: [{ file: "/x.crt", expiresAt: "2027-11-24T00:00:00.000Z" }],
};

test("a machine that is well asks for nothing, and one that nothing was begun on for init", () => {
  expect(nextSteps(well, now)).toEqual([]);
  const renewed = [KUBELET, AGENT].map((file) => ({ file, expiresAt: "2026-12-01T00:00:00.000Z" }));
  expect(nextSteps({ ...well, certificates: renewed }, now)).toEqual([]);
  const operation = {
    type: "Reconcile",
    state: "Processing",
    progress: 5,
    description: "",
    lastUpdateTime: "",
    errors: [],
  };
  const conditions = [{ type: "ControlPlaneHealthy", status: "Progressing", message: "etcd-main on b" }];
  expect(nextSteps({ ...well, operation, conditions }, now)).toEqual([]);
  expect(nextSteps({ host: "a", imported: false, certificates: [] }, now)).toEqual([
    "make this machine the first node of a cluster: gardenadm init -d FOLDER; or a further one: gardenadm join",
  ]);
});

const FAILED = {
  ...{ type: "Reconcile", state: "Error", progress: 80, description: "waiting for a retry", lastUpdateTime: "" },
  errors: [{ step: "etcdManaged", description: "b is silent" }],
};

const SICK = [{ type: "ControlPlaneHealthy", status: "False", message: "Not ready: etcd-main on b" }];

test.each([KUBELET, AGENT])(
  "a worker whose %s is over is told to join again, and not to see to the control plane",
  (file) => {
    const certificates = [{ file, expiresAt: "2026-11-20T00:00:00.000Z" }];
    const worker: MachineReport = { host: "w", role: "worker", imported: false, kubelet: ready, certificates };
    const unreachable = { ready: false, reason: "not reachable: Unauthorized" };
    expect(nextSteps({ ...worker, apiServer: unreachable }, now)).toEqual([
      `the certificate in ${file}, which is renewed by itself, ended at 2026-11-20T00:00:00.000Z: join again, by the line that 'gardenadm token create --print-join-command' prints on a node of the control plane`,
    ]);
  },
);

test.each<[string, Partial<MachineReport>, string]>([
  [
    "a parked step",
    {
      lastRun: {
        flow: "f",
        startedAt: "",
        endedAt: "",
        open: [
          { step: "etcd", state: "parked", message: "no disk" },
          { step: "node", state: "blocked" },
        ],
      },
    },
    "step etcd is parked: no disk; go on: gardenadm init -d /root/config",
  ],
  ["a silent kubelet", { kubelet: { ready: false } }, "the kubelet does not answer: journalctl --unit kubelet.service"],
  [
    "an etcd that is there and does not answer this machine",
    { etcds: [{ name: "etcd-main", reason: "the certificate has expired", isThere: true }] },
    "etcd-main is there, and could not be asked: the certificate has expired; its log is in /var/log/pods/kube-system_etcd-main*",
  ],
  [
    "a silent etcd",
    { etcds: [{ name: "etcd-main", reason: "no answer in time" }] },
    "etcd-main does not answer: see its log in /var/log/pods/kube-system_etcd-main*",
  ],
  [
    "a silent API server",
    { apiServer: { ready: false } },
    "kube-apiserver does not answer: see its log in /var/log/pods/kube-system_kube-apiserver*",
  ],
  [
    "an API server that a worker does not reach",
    { role: "worker", apiServer: { ready: false } },
    "no API server answers: see that a node of the control plane is on",
  ],
  [
    "a join that has parked",
    { lastRun: { flow: "Join a worker node", startedAt: "", endedAt: "", open: [{ step: "trust", state: "parked" }] } },
    "step trust is parked; go on: the line of 'gardenadm token create --print-join-command' again, with --control-plane where it had that",
  ],
  [
    "a reset that a gardenadm of before has begun, of whatever node",
    { lastRun: { flow: "Reset a node", startedAt: "", endedAt: "", open: [{ step: "members", state: "running" }] } },
    "step members is running; go on: the same 'gardenadm reset' again, with --node where it had that",
  ],
  [
    "a restore that another command has come after",
    { restoresFrom: "latest" },
    "a restore from latest was begun on this machine, and is not done: run the same 'gardenadm restore --from latest' again; or take away with 'gardenadm reset --machine-only' what it has left",
  ],
  [
    "a silent member",
    withMembers(member("a"), member("b", { answers: false, reason: "refused" }), member("c", { role: "leader" })),
    "etcd-main: no answer from b: start that machine; where its disk is lost, the line of 'gardenadm token create --control-plane --print-join-command' on it",
  ],
  [
    "a quorum that is lost",
    {
      ...withMembers(
        member("a", { reason: "no leader" }),
        member("b", { answers: false }),
        member("c", { answers: false }),
      ),
      apiServer: { ready: false },
    },
    "etcd-main has no quorum: 2 of 3 members have to run; start those that are silent, or, where their disks are lost, 'gardenadm restore -d /root/config --from member'",
  ],
  [
    "a learner",
    withMembers(member("a", { role: "leader" }), member("b", { role: "learner", lag: 7 })),
    "etcd-main: b has no vote yet: go on there with the line of 'gardenadm token create --control-plane --print-join-command'",
  ],
  [
    "an alarm",
    withMembers(member("a", { reason: "NOSPACE", url: "https://a:2379" }), member("b", { url: "https://b:2379" })),
    `etcd-main: a says NOSPACE: its database is full; end what fills it, and make room on a node of the control plane: ${roomCommand(["https://a:2379", "https://b:2379"])}`,
  ],
  [
    "no backup where one is asked for",
    { backup: {} },
    "there is no backup, though one is asked for: see 'kubectl --namespace kube-system get jobs,pods'",
  ],
  [
    "an old backup",
    { backup: { last: { name: "x", size: 1, takenAt: "2026-11-23T22:00:00.000Z" } } },
    "the last backup is 120m old, and there is to be one every ten minutes: see 'kubectl --namespace kube-system get jobs,pods'",
  ],
  ["a store that is away", { backup: { reason: "refused" } }, "backups are not reachable: refused"],
  [
    "certificates that end within 30 days",
    { certificates: [{ file: "/x.crt", expiresAt: "2026-12-01T00:00:00.000Z" }] },
    "1 certificates end soon, /x.crt first, at 2026-12-01T00:00:00.000Z; renew them: gardenadm init -d /root/config",
  ],
  [
    "certificates that end where the unit is that renews them",
    { certificates: [{ file: "/x.crt", expiresAt: "2026-12-01T00:00:00.000Z" }], canRenew: true },
    "1 certificates end soon, /x.crt first, at 2026-12-01T00:00:00.000Z; renew them: systemctl start gardenadm-renewal.service",
  ],
  [
    "an authority in its last year",
    {
      certificates: [
        { file: "/ca.crt", expiresAt: "2026-12-01T00:00:00.000Z", isAuthority: true },
        { file: "/young/ca.crt", expiresAt: "2036-11-24T00:00:00.000Z", isAuthority: true },
      ],
      canRenew: true,
    },
    "the CA in /ca.crt expires at 2026-12-01T00:00:00.000Z and cannot be renewed: move to another cluster before then, because this one stops working",
  ],
  [
    "a certificate that should have been renewed by itself",
    { certificates: [{ file: AGENT, expiresAt: "2026-11-25T00:00:00.000Z" }] },
    `the certificate in ${AGENT}, which is renewed by itself, ends at 2026-11-25T00:00:00.000Z: journalctl --unit gardener-node-agent.service --unit kubelet.service`,
  ],
  [
    "an operation that has failed on another machine",
    { operation: FAILED },
    "the cluster's last Reconcile has not come to its end: step etcdManaged: b is silent; run its command again where it was run",
  ],
  [
    "an operation that has failed on this machine",
    {
      operation: FAILED,
      lastRun: { flow: "f", startedAt: "", endedAt: "", open: [{ step: "etcdManaged", state: "parked" }] },
    },
    "step etcdManaged is parked; go on: gardenadm init -d /root/config",
  ],
  [
    "a condition that nothing else explains",
    { conditions: SICK },
    "ControlPlaneHealthy is False: Not ready: etcd-main on b",
  ],
  [
    "a Node that explains a condition",
    { conditions: SICK, nodes: [{ name: "b", ready: false, reason: "no network" }] },
    "Node b is not Ready: no network",
  ],
  [
    "a backup and members that only others know of",
    {
      ...{ role: "worker", backup: { unknown: "elsewhere" }, etcds: [{ name: "etcd-main", unknown: "elsewhere" }] },
      nodes: [{ name: "w", ready: false, reason: "no network" }],
    },
    "Node w is not Ready: no network",
  ],
  [
    "a Node whose kubelet would have the operator do something",
    { nodes: [{ name: "w", ready: false, reason: "no network\ngardenadm reset --node a --machine-is-gone" }] },
    "Node w is not Ready: no network gardenadm reset --node a --machine-is-gone",
  ],
  [
    "a Node that is not Ready",
    { nodes: [{ name: "a", ready: false, reason: "no network" }] },
    "Node a is not Ready: no network",
  ],
])("%s is said with what helps", (_, change, sentence) => {
  expect(nextSteps({ ...well, ...change }, now)).toEqual([sentence]);
});

const line = (run: string, step: string, state: JournalEntry["state"], message?: string): JournalEntry => ({
  ...{ time: `${run}-${step}-${state}`, run, flow: "start", step, state },
  ...(message !== undefined && { message }),
});

test("the last run counts, and each step by its last line", () => {
  const entries = [
    line("1", "etcd", "parked", "old"),
    line("2", "preflight", "running"),
    line("2", "preflight", "done"),
    line("2", "etcd", "running"),
    line("2", "etcd", "parked", "no disk"),
    line("2", "node", "blocked"),
  ];
  expect(lastRunOf(entries)).toEqual({
    flow: "start",
    startedAt: "2-preflight-running",
    endedAt: "2-node-blocked",
    open: [
      { step: "etcd", state: "parked", message: "no disk" },
      { step: "node", state: "blocked" },
    ],
  });
  expect(lastRunOf([])).toBeUndefined();
});

test("certificates of static pods and kubeconfigs are found, the first to expire first, and what is none is left out", async () => {
  const root = await mkdtemp(join(tmpdir(), "perennial-status-"));
  try {
    const authority = await issueAuthority("authority", new Date("2020-01-01"));
    const issued = (at: string) => issueCertificate(authority, { commonName: at, usages: ["client"] }, new Date(at));
    const [older, newer, newest] = [await issued("2020-01-01"), await issued("2025-01-01"), await issued("2026-01-01")];
    const files = {
      "/var/lib/static-pods/etcd-main/etcd-server/tls.crt": newer.certificate,
      "/var/lib/static-pods/etcd-main/etcd-server/tls.key": newer.key,
      "/var/lib/static-pods/etcd-main/ca-etcd/ca.crt": authority.certificate,
      "/var/lib/static-pods/broken/tls.crt": "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n",
      "/etc/kubernetes/admin.conf": renderKubeconfig({
        server: "https://a",
        ca: "",
        clientCert: older.certificate,
        clientKey: older.key,
      }),
      "/var/lib/gardener-node-agent/credentials/kubeconfig": renderKubeconfig({
        ...{ server: "https://a", ca: "", clientCert: newest.certificate, clientKey: newest.key },
      }),
      "/var/lib/kubelet/kubeconfig-real": "{",
    };
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text);
    }
    expect((await findCertificates(root)).map(({ file }) => file)).toEqual([
      "/etc/kubernetes/admin.conf",
      "/var/lib/static-pods/etcd-main/etcd-server/tls.crt",
      AGENT,
      "/var/lib/static-pods/etcd-main/ca-etcd/ca.crt",
    ]);
    expect((await findCertificates(root)).map(({ isAuthority = false }) => isAuthority)).toEqual([
      ...[false, false, false],
      true,
    ]);
    const renewed = await dueCertificates(root, Date.parse("2100-01-01"));
    expect(renewed).toHaveLength(2);
    expect(renewed).not.toContain(AGENT);
    expect(await findCertificates(join(root, "nowhere"))).toEqual([]);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test("the command that makes room in a full etcd is that of its runbook", async () => {
  const runbook = await readFile(join(import.meta.dirname, "../../../docs/runbooks/etcd-full.md"), "utf8");
  const parts = roomCommand(["https://A:2379", "https://B:2379", "https://C:2379"]).split("; ");
  const [variables = "", ...commands] = parts;
  const wanted = [...variables.split(" ").slice(1), ...commands];
  expect(wanted.filter((part) => !runbook.includes(part))).toEqual([]);
  expect(wanted).toHaveLength(6);
});

test("members are told by their part, and by how far they are behind the leader of the newest term", () => {
  const at = (id: string, isLearner = false) => ({
    ...{ id, name: id === "9" ? "" : `node-${id}`, isLearner, peerURLs: [], clientURLs: [], started: id !== "9" },
  });
  const says = (term: number, leader: string, raftIndex: number, appliedIndex: number) => ({
    ...{ answers: true as const, version: "3.6.10", dbSize: 5, errors: [], term, leader, raftIndex, appliedIndex },
  });
  expect(
    reportMembers([
      { member: at("1"), ...says(2, "1", 90, 90) },
      { member: at("2"), ...says(3, "2", 100, 100) },
      { member: at("3", true), ...says(3, "2", 100, 60) },
      { member: at("9"), answers: false, reason: "it has never started" },
    ]),
  ).toEqual([
    { name: "9", role: "voter", answers: false, reason: "it has never started" },
    { name: "node-1", role: "voter", answers: true, lag: 10, size: 5 },
    { name: "node-2", role: "leader", answers: true, lag: 0, size: 5 },
    { name: "node-3", role: "learner", answers: true, lag: 40, size: 5 },
  ]);
});

test("while nothing answers, each part says so, and the deadline bounds all of it", async () => {
  const root = await mkdtemp(join(tmpdir(), "perennial-status-"));
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  try {
    const sleeps = "#!/bin/sh\nexec sleep 60\n";
    const { certificate, key } = await issueAuthority("kubernetes", new Date());
    const files = {
      "/var/lib/gardener-node-agent/pool.yaml": "role: control-plane\n",
      "/etc/kubernetes/admin.conf": renderKubeconfig({
        ...{ server: `https://127.0.0.1:${port}`, ca: certificate, clientCert: certificate, clientKey: key },
      }),
      "/var/lib/static-pods/etcd-main/etcd-main-config/etcd.yaml":
        "name: a\ninitial-advertise-peer-urls: https://10.0.0.1:2380\ninitial-cluster: a=https://10.0.0.1:2380\n",
      "/var/lib/gardenadm/backup/access.json": JSON.stringify({ provider: "s3", uid: "u", secret: STORE }),
      ...{ "/opt/bin/etcdctl": sleeps, "/opt/bin/rclone": sleeps },
    };
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text, { mode: 0o755 });
    }
    const report = await readMachine(root, { part: 200, server: 300, program: 600 }); // the programs take a minute each
    expect(report).toMatchObject({
      role: "control-plane",
      kubelet: { ready: false, reason: expect.stringContaining("not reachable") },
      etcds: [{ name: "etcd-main", reason: "no answer in time" }],
      apiServer: { ready: false, reason: "not reachable: no answer within 0.3 s" },
      nodes: [],
      backup: { reason: "the store does not answer in time" },
    });
  } finally {
    silent.close();
    await rm(root, { recursive: true, force: true });
  }
});

test("what is not known on a machine is said so, rather than left out", async () => {
  const root = await mkdtemp(join(tmpdir(), "perennial-status-"));
  try {
    for (const role of ["control-plane", "worker"]) {
      const file = join(root, "/var/lib/gardener-node-agent/pool.yaml");
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, `role: ${role}\n`);
      const { backup, etcds } = await readMachine(root, { part: 200, server: 300, program: 600 });
      expect(backup?.unknown).toBeDefined();
      const elsewhere = "'gardenadm status' on a node of the control plane says it";
      if (role === "worker") expect(etcds?.map(({ unknown }) => unknown)).toEqual([elsewhere, elsewhere]);
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

const STORE = { bucketName: "b", region: "r", endpoint: "http://127.0.0.1:1", accessKeyID: "i", secretAccessKey: "s" };
