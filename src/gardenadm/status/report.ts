import type { NodeRole } from "../../api/names.ts";
import { oneLine } from "../../api/summaries.ts";
import { formatDuration } from "../../cli/display/time.ts";
import { quorumOf } from "../../etcd/quorum.ts";
import type { JournalEntry } from "../../in-process/journal.ts";
import { unfinished } from "../machine/begun-restore.ts";
import type { BackupReport } from "./backup.ts";
import { certificateSteps, isLockedOut } from "./certificate-steps.ts";
import type { FoundCertificate } from "../machine/certificates.ts";
import type { EtcdReport, MemberReport } from "./etcd.ts";
import { roomCommand } from "./room.ts";

/** Whether something answers, and why not. */
export interface Answer {
  readonly ready: boolean;
  readonly reason?: string;
}

/** A Node as its API server knows it. */
export interface NodeReport {
  readonly name: string;
  readonly ready: boolean;
  readonly reason?: string;
}

/** An aspect of the cluster's health, as its Shoot says it. */
export interface ConditionReport {
  readonly type: string;
  /** `True`, `False`, `Progressing` or `Unknown`. */
  readonly status: string;
  readonly message: string;
}

/** The last operation on the cluster, on whichever machine, as its Shoot says it. */
export interface OperationReport {
  readonly type: string;
  readonly state: string;
  /** In percent. */
  readonly progress: number;
  readonly description: string;
  /** RFC 3339. */
  readonly lastUpdateTime: string;
  /** Steps that have failed, and why. */
  readonly errors: readonly { readonly step: string; readonly description: string }[];
}

/** What there is to say of a machine, whatever answers. Of what it has no part in, nothing is there. */
export interface MachineReport {
  readonly host: string;
  /** What of a cluster it is; absent where nothing was begun. */
  readonly role?: NodeRole;
  /** The API server has the cluster's objects. */
  readonly imported: boolean;
  /** Where the operator's configuration was when it was read last. */
  readonly configDirectory?: string;
  readonly kubelet?: Answer;
  readonly etcds?: readonly EtcdReport[];
  readonly apiServer?: Answer;
  readonly nodes?: readonly NodeReport[];
  /** Empty until the cluster was looked at for the first time. */
  readonly conditions?: readonly ConditionReport[];
  readonly operation?: OperationReport;
  /** Absent where no backup is asked for, as far as this machine knows. */
  readonly backup?: BackupReport;
  /** The first to expire first. */
  readonly certificates: readonly FoundCertificate[];
  /** The unit that renews them is on the machine. */
  readonly canRenew?: boolean;
  readonly lastRun?: RunReport;
  /** What a restore that is not done restores from. */
  readonly restoresFrom?: string;
}

/** A run of gardenadm, as the journal has it. */
export interface RunReport {
  readonly flow: string;
  /** The command line by which it goes on; absent where a gardenadm of before has begun it. */
  readonly command?: string;
  /** RFC 3339: the first and the last line. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** Steps that were begun and are not done: `parked` ones say why. */
  readonly open: readonly { readonly step: string; readonly state: string; readonly message?: string }[];
}

/** The last run of a journal; none where it is empty. */
export function lastRunOf(entries: readonly JournalEntry[]): RunReport | undefined {
  const last = entries.at(-1);
  if (last === undefined) return undefined;
  const mine = entries.filter(({ run }) => run === last.run);
  const steps = new Map(mine.map((entry) => [entry.step, entry]));
  const open = [...steps.values()].filter(({ state }) => !["done", "skipped", "settled"].includes(state));
  return {
    flow: last.flow,
    ...(last.command !== undefined && { command: last.command }),
    startedAt: mine[0]?.time ?? last.time,
    endedAt: last.time,
    open: open.map(({ step, state, message }) => ({ step, state, ...(message !== undefined && { message }) })),
  };
}

/** In ms: a backup is taken every ten minutes. */
const OLD = 30 * 60_000;

/** In bytes of what a Node says of itself: its kubelet writes that, and lines of it would look like ours. */
const LONGEST_REASON = 1_000;

/** What the operator does next, a sentence each, the most urgent first; nothing where all is well. */
export function nextSteps(report: MachineReport, now: number): string[] {
  if (report.role === undefined && report.lastRun === undefined)
    return [
      "make this machine the first node of a cluster: gardenadm init -d FOLDER; or a further one: gardenadm join",
    ];
  const steps = [
    ...openSteps(report),
    ...restoreSteps(report),
    ...(report.etcds ?? []).flatMap((etcd) => etcdSteps(etcd, report)),
    ...silentParts(report, now),
    ...operationSteps(report),
    ...(report.nodes ?? [])
      .filter(({ ready }) => !ready)
      .map(
        ({ name, reason }) =>
          `Node ${name} is not Ready: ${reason ? oneLine(reason, LONGEST_REASON) : "it says nothing"}`,
      ),
    ...backupSteps(report.backup, now),
    ...certificateSteps(report, { now, begin: initOf(report) }),
  ];
  return steps.length > 0 ? steps : conditionSteps(report);
}

function openSteps(report: MachineReport): string[] {
  const { flow = "", command, open = [] } = report.lastRun ?? {};
  const again = command === undefined ? sameAgain(flow, report) : inFull(command);
  const inTheWay = open.filter(({ state }) => state !== "blocked");
  return inTheWay.map(
    ({ step, state, message }) => `step ${step} is ${state}${message ? `: ${message}` : ""}; go on: ${again}`,
  );
}

/** A restore is told of by its open steps, unless another command has come after it. */
function restoreSteps({ restoresFrom, lastRun }: MachineReport): string[] {
  const isLast = lastRun !== undefined && lastRun.open.length > 0 && /^gardenadm restore /.test(lastRun.command ?? "");
  return restoresFrom === undefined || isLast ? [] : [unfinished(restoresFrom)];
}

/** A command line with what it leaves to its reader. */
function inFull(command: string): string {
  if (!command.startsWith("echo TOKEN |")) return command;
  const role = command.includes(" --control-plane") ? " --control-plane" : "";
  return `${command}, where TOKEN is what 'gardenadm token create${role}' prints on a node of the control plane`;
}

/** What has begun a flow of this title, as far as that says it. */
function sameAgain(flow: string, report: MachineReport): string {
  if (flow.startsWith("Join"))
    return "the line of 'gardenadm token create --print-join-command' again, with --control-plane where it had that";
  if (flow.startsWith("Reset")) return "the same 'gardenadm reset' again, with --node where it had that";
  return flow.startsWith("Restore") ? "the same 'gardenadm restore' again, with the same --from" : initOf(report);
}

const initOf = (report: MachineReport): string => `gardenadm init -d ${folderOf(report)}`;

const folderOf = ({ configDirectory }: MachineReport): string => configDirectory ?? "FOLDER";

function silentParts(report: MachineReport, now: number): string[] {
  const { role, kubelet, apiServer, etcds = [] } = report;
  const silentServer =
    role === "worker"
      ? "no API server answers: see that a node of the control plane is on"
      : silentPod("kube-apiserver");
  // Where the machine's own certificates are over, the API server may well answer, but not to it.
  const isSilent = apiServer?.ready === false && !etcds.some(lacksQuorum) && !isLockedOut(report, now);
  return [
    ...(kubelet?.ready === false ? ["the kubelet does not answer: journalctl --unit kubelet.service"] : []),
    ...etcds.filter(({ members, unknown }) => members === undefined && unknown === undefined).map(silentEtcd),
    ...(isSilent ? [silentServer] : []),
  ];
}

/** What this machine has begun itself, its open steps tell of. */
function operationSteps({ operation, lastRun }: MachineReport): string[] {
  if (operation?.state !== "Error" || (lastRun?.open ?? []).length > 0) return [];
  const { type, description, errors } = operation;
  const why = errors.map((error) => `step ${error.step}: ${error.description}`).join("; ") || description;
  return [`the cluster's last ${type} has not come to its end: ${why}; run its command again where it was run`];
}

/** Worth a step only where nothing that is seen here explains them. */
function conditionSteps({ conditions = [] }: MachineReport): string[] {
  return conditions
    .filter(({ status }) => status === "False")
    .map(({ type, message }) => `${type} is False: ${message}`);
}

const silentPod = (name: string): string =>
  `${name} does not answer: see its log in /var/log/pods/kube-system_${name}*`;

/** Of one that is there, more can be said than that it is silent. */
const silentEtcd = ({ name, isThere, reason }: EtcdReport): string =>
  isThere === true
    ? `${name} is there, and could not be asked: ${reason}; its log is in /var/log/pods/kube-system_${name}*`
    : silentPod(name);

const votersOf = ({ members = [] }: EtcdReport) => members.filter(({ role }) => role !== "learner");

/** No API server answers then, and every member says so. */
function lacksQuorum(etcd: EtcdReport): boolean {
  const voters = votersOf(etcd);
  return voters.length > 0 && voters.filter(({ answers }) => answers).length < quorumOf(voters.length);
}

function etcdSteps(etcd: EtcdReport, report: MachineReport): string[] {
  const { name: called, members = [] } = etcd;
  const voters = votersOf(etcd).length;
  if (lacksQuorum(etcd))
    return [
      `${called} has no quorum: ${quorumOf(voters)} of ${voters} members have to run; start those that are silent, or, where their disks are lost, 'gardenadm restore -d ${folderOf(report)} --from member'`,
    ];
  const silent = members.filter(({ answers }) => !answers).map(({ name }) => name);
  return [
    ...(silent.length === 0
      ? []
      : [
          `${called}: no answer from ${silent.join(", ")}: start that machine; where its disk is lost, the line of 'gardenadm token create --control-plane --print-join-command' on it`,
        ]),
    ...members
      .filter(({ role, answers }) => role === "learner" && answers)
      .map(
        ({ name }) =>
          `${called}: ${name} has no vote yet: go on there with the line of 'gardenadm token create --control-plane --print-join-command'`,
      ),
    ...members
      .filter(({ answers, reason }) => answers && reason !== undefined)
      .map(({ name, reason }) => `${called}: ${name} says ${reason}${alarmRemedy(reason, members)}`),
  ];
}

/** What helps against what a member says of itself, where that is known. */
function alarmRemedy(reason = "", members: readonly MemberReport[] = []): string {
  if (!reason.includes("NOSPACE")) return "";
  const urls = members.flatMap(({ answers, url }) => (answers && url !== undefined ? [url] : []));
  return `: its database is full; end what fills it, and make room on a node of the control plane: ${roomCommand(urls)}`;
}

function backupSteps(backup: BackupReport | undefined, now: number): string[] {
  if (backup === undefined || backup.unknown !== undefined) return [];
  const see = "see 'kubectl --namespace kube-system get jobs,pods'";
  if (backup.reason !== undefined) return [`backups are not reachable: ${backup.reason}`];
  if (backup.last === undefined) return [`there is no backup, though one is asked for: ${see}`];
  const age = now - Date.parse(backup.last.takenAt);
  return age > OLD
    ? [`the last backup is ${formatDuration(age)} old, and there is to be one every ten minutes: ${see}`]
    : [];
}
