import { renderFields } from "../../cli/display/fields.ts";
import { printObject } from "../../cli/display/output.ts";
import { formatAgo, formatDuration } from "../../cli/display/time.ts";
import { choice } from "../../cli/option.ts";
import { defineCommand } from "../context.ts";
import type { BackupReport } from "./backup.ts";
import type { EtcdReport, MemberReport } from "./etcd.ts";
import { readMachine } from "./read.ts";
import { nextSteps, type Answer, type MachineReport } from "./report.ts";

/** `gardenadm status` */
export const status = defineCommand({
  name: "status",
  summary: "Say how this machine and its cluster are, also while nothing answers, and what to do next",
  description:
    "It changes nothing, and takes some ten seconds at most: what has not answered by then is called not reachable. Exit code 0 says that there is nothing to do.",
  examples: ["gardenadm status", "gardenadm status -o json"],
  args: {},
  options: { output: choice(["json", "yaml"], "Output", "o") },
  async run({ options, context }) {
    const report = await readMachine("/");
    const next = nextSteps(report, context.now());
    const { out } = context.terminal;
    if (options.output) printObject(out, { ...report, next }, options.output);
    else out.write(`${render(report, next, context.now(), out.width).join("\n")}\n`);
    return next.length === 0 ? "done" : "failed";
  },
});

function render(report: MachineReport, next: readonly string[], now: number, width: number | undefined): string[] {
  const { host, role, kubelet, etcds = [], apiServer, nodes = [], backup, certificates, lastRun } = report;
  const [first] = certificates;
  return renderFields(
    {
      Machine: role === undefined ? host : `${host}, ${role === "worker" ? "a worker" : "a node of the control plane"}`,
      Kubelet: kubelet && inWords(kubelet),
      ...Object.fromEntries(etcds.map((etcd) => [etcd.name, membersInWords(etcd)])),
      "API server": apiServer && inWords(apiServer),
      Nodes: nodes.map(({ name, ready }) => `${name} ${ready ? "Ready" : "NotReady"}`).join(", "),
      Backup: backup && backupInWords(backup, now),
      Certificates:
        first &&
        `${certificates.length}, the first ends in ${formatDuration(Date.parse(first.expiresAt) - now)}: ${first.file}`,
      "Last run":
        lastRun &&
        `${lastRun.flow}: ${lastRun.open.length === 0 ? "done" : "not done"}, ${formatAgo(lastRun.endedAt, now)}`,
      Next: next.join("\n") || "nothing",
    },
    width,
  );
}

const inWords = ({ ready, reason }: Answer): string => (ready ? "ready" : (reason ?? "not reachable"));

function membersInWords({ members, reason }: EtcdReport): string {
  if (members === undefined) return `not reachable: ${reason ?? "no member answers"}`;
  return members.map(memberInWords).join("\n");
}

function memberInWords({ name, role, answers, lag, size, reason }: MemberReport): string {
  if (!answers) return `${name} ${role}, not reachable: ${reason ?? "it does not answer"}`;
  const facts = [
    role,
    ...(role === "leader" || lag === undefined ? [] : [`${lag} entries behind`]),
    ...(size === undefined ? [] : [`${(size / 1_000_000).toFixed(1)} MB`]),
    ...(reason === undefined ? [] : [reason]),
  ];
  return `${name} ${facts.join(", ")}`;
}

function backupInWords({ last, reason }: BackupReport, now: number): string {
  if (reason !== undefined) return `not reachable: ${reason}`;
  if (last === undefined) return "none";
  return `${last.name}, ${(last.size / 1_000_000).toFixed(1)} MB, verified, ${formatAgo(last.takenAt, now)}`;
}
