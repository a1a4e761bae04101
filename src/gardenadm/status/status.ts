import { renderFields } from "../../cli/display/fields.ts";
import { printObject } from "../../cli/display/output.ts";
import { formatAgo, formatDuration } from "../../cli/display/time.ts";
import { choice } from "../../cli/option.ts";
import { defineCommand } from "../context.ts";
import { renewsItself, type FoundCertificate } from "../machine/certificates.ts";
import type { BackupReport } from "./backup.ts";
import type { EtcdReport, MemberReport } from "./etcd.ts";
import { readMachine } from "./read.ts";
import {
  nextSteps,
  type Answer,
  type ConditionReport,
  type MachineReport,
  type OperationReport,
  type RunReport,
} from "./report.ts";

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
  const { host, role, kubelet, etcds = [], apiServer, nodes = [], backup, certificates, lastRun, operation } = report;
  return renderFields(
    {
      Machine: role === undefined ? host : `${host}, ${role === "worker" ? "a worker" : "a node of the control plane"}`,
      Kubelet: kubelet && inWords(kubelet),
      ...Object.fromEntries(etcds.map((etcd) => [etcd.name, membersInWords(etcd)])),
      "API server": apiServer && inWords(apiServer),
      Nodes: nodes.map(({ name, ready }) => `${name} ${ready ? "Ready" : "NotReady"}`).join(", "),
      Operation: operation && operationInWords(operation, now),
      Conditions: conditionsInWords(report.conditions),
      Backup: backup && backupInWords(backup, now),
      Certificates: certificatesInWords(certificates, now),
      "Last run": lastRun && runInWords(lastRun, now),
      Next: next.join("\n") || "nothing",
    },
    width,
  );
}

const inWords = ({ ready, reason }: Answer): string => (ready ? "ready" : (reason ?? "not reachable"));

/** What renews itself is worth a word only where there is nothing else: it is always the first to end. */
function certificatesInWords(certificates: readonly FoundCertificate[], now: number): string | undefined {
  const first = certificates.find(({ file }) => !renewsItself(file)) ?? certificates[0];
  if (first === undefined) return undefined;
  const left = Date.parse(first.expiresAt) - now;
  const when = left > 0 ? `ends in ${formatDuration(left)}` : `ended ${formatAgo(first.expiresAt, now)}`;
  return `${certificates.length}, the first ${when}: ${first.file}`;
}

const runInWords = ({ flow, open, endedAt }: RunReport, now: number): string =>
  `${flow}: ${open.length === 0 ? "done" : "not done"}, ${formatAgo(endedAt, now)}`;

function operationInWords(
  { type, state, progress, description, lastUpdateTime }: OperationReport,
  now: number,
): string {
  const said = state === "Succeeded" ? "" : ` ${progress} %: ${description}`;
  return `${type} ${state}${said}, ${formatAgo(lastUpdateTime, now)}`;
}

/** Those that hold in one line, and each other one with why. */
function conditionsInWords(conditions: readonly ConditionReport[] = []): string | undefined {
  const holding = conditions.filter(({ status }) => status === "True").map(({ type }) => type);
  const others = conditions.filter(({ status }) => status !== "True");
  const lines = others.map(({ type, status, message }) => `${type} ${status}: ${message}`);
  return [...(holding.length === 0 ? [] : [`${holding.join(", ")} True`]), ...lines].join("\n") || undefined;
}

function membersInWords({ members, reason, unknown }: EtcdReport): string {
  if (unknown !== undefined) return `not known here: ${unknown}`;
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

function backupInWords({ last, reason, unknown }: BackupReport, now: number): string {
  if (unknown !== undefined) return `not known here: ${unknown}`;
  if (reason !== undefined) return `not reachable: ${reason}`;
  if (last === undefined) return "none";
  return `${last.name}, ${(last.size / 1_000_000).toFixed(1)} MB, verified, ${formatAgo(last.takenAt, now)}`;
}
