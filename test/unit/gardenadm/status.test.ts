import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { issueAuthority } from "../../../src/activities/secrets/pki.ts";
import { findCertificates, KUBELET } from "../../../src/gardenadm/status/certificates.ts";
import { lastRunOf, nextSteps, type MachineReport } from "../../../src/gardenadm/status/report.ts";
import type { JournalEntry } from "../../../src/in-process/journal.ts";
import { renderKubeconfig } from "../../../src/kube/index.ts";

const now = Date.parse("2026-11-24T00:00:00Z");
const ready = { ready: true };
const well: MachineReport = {
  host: "a",
  begun: true,
  imported: true,
  configDirectory: "/root/config",
  ...{ kubelet: ready, etcdMain: ready, etcdEvents: ready, apiServer: ready },
  nodes: [{ name: "a", ready: true }],
  certificates: [{ file: "/x.crt", expiresAt: "2027-11-24T00:00:00.000Z" }],
};

test("a machine that is well asks for nothing, and one that nothing was begun on for init", () => {
  expect(nextSteps(well, now)).toEqual([]);
  expect(nextSteps({ ...well, certificates: [{ file: KUBELET, expiresAt: "2026-12-01T00:00:00.000Z" }] }, now)).toEqual(
    [],
  );
  expect(nextSteps({ ...well, begun: false }, now)).toEqual([
    "make this machine the first node of a cluster: gardenadm init -d FOLDER",
  ]);
});

test.each<[string, Partial<MachineReport>, string]>([
  [
    "a parked step",
    {
      lastRun: { flow: "f", startedAt: "", endedAt: "", open: [{ step: "etcd", state: "parked", message: "no disk" }] },
    },
    "step etcd is parked: no disk; go on: gardenadm init -d /root/config",
  ],
  ["a silent kubelet", { kubelet: { ready: false } }, "the kubelet does not answer: journalctl --unit kubelet.service"],
  [
    "a silent etcd",
    { etcdMain: { ready: false } },
    "etcd-main does not answer: see its log in /var/log/pods/kube-system_etcd-main*",
  ],
  [
    "a silent API server",
    { apiServer: { ready: false } },
    "kube-apiserver does not answer: see its log in /var/log/pods/kube-system_kube-apiserver*",
  ],
  [
    "certificates that end within 30 days",
    { certificates: [{ file: "/x.crt", expiresAt: "2026-12-01T00:00:00.000Z" }] },
    "1 certificates end soon, /x.crt first, at 2026-12-01T00:00:00.000Z; renew them: gardenadm init -d /root/config",
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
    const older = await issueAuthority("older", new Date("2020-01-01"));
    const newer = await issueAuthority("newer", new Date("2025-01-01"));
    const files = {
      "/var/lib/static-pods/etcd-main/etcd-server/tls.crt": newer.certificate,
      "/var/lib/static-pods/etcd-main/etcd-server/tls.key": newer.key,
      "/var/lib/static-pods/broken/tls.crt": "-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n",
      "/etc/kubernetes/admin.conf": renderKubeconfig({
        server: "https://a",
        ca: "",
        clientCert: older.certificate,
        clientKey: older.key,
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
    ]);
    expect(await findCertificates(join(root, "nowhere"))).toEqual([]);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});
