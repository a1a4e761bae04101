import type { JournalEntry } from "../../in-process/journal.ts";
import { KUBELET, type FoundCertificate } from "./certificates.ts";

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

/** What there is to say of a machine, whatever answers. */
export interface MachineReport {
  readonly host: string;
  /** `gardenadm init` was begun here. */
  readonly begun: boolean;
  /** The API server has the cluster's objects. */
  readonly imported: boolean;
  /** Where the operator's configuration was when it was read last. */
  readonly configDirectory?: string;
  readonly kubelet: Answer;
  readonly etcdMain: Answer;
  readonly etcdEvents: Answer;
  readonly apiServer: Answer;
  readonly nodes: readonly NodeReport[];
  /** The first to expire first. */
  readonly certificates: readonly FoundCertificate[];
  readonly lastRun?: RunReport;
}

/** A run of gardenadm, as the journal has it. */
export interface RunReport {
  readonly flow: string;
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
    startedAt: mine[0]?.time ?? last.time,
    endedAt: last.time,
    open: open.map(({ step, state, message }) => ({ step, state, ...(message !== undefined && { message }) })),
  };
}

/** In ms: certificates that expire sooner ask for something. */
const SOON = 30 * 24 * 3_600_000;

/** What the operator does next, a sentence each, the most urgent first; nothing where all is well. */
export function nextSteps(report: MachineReport, now: number): string[] {
  if (!report.begun) return ["make this machine the first node of a cluster: gardenadm init -d FOLDER"];
  const init = `gardenadm init -d ${report.configDirectory ?? "FOLDER"}`;
  const ends = report.certificates.filter(
    ({ file, expiresAt }) => file !== KUBELET && Date.parse(expiresAt) - now < SOON,
  );
  return [
    ...(report.lastRun?.open ?? []).map(
      ({ step, state, message }) => `step ${step} is ${state}${message ? `: ${message}` : ""}; go on: ${init}`,
    ),
    ...(report.kubelet.ready ? [] : ["the kubelet does not answer: journalctl --unit kubelet.service"]),
    ...[
      ["etcd-main", report.etcdMain] as const,
      ["etcd-events", report.etcdEvents] as const,
      ["kube-apiserver", report.apiServer] as const,
    ]
      .filter(([, { ready }]) => !ready)
      .map(([name]) => `${name} does not answer: see its log in /var/log/pods/kube-system_${name}*`),
    ...ends
      .slice(0, 1)
      .map(
        ({ file, expiresAt }) =>
          `${ends.length} certificates end soon, ${file} first, at ${expiresAt}; renew them: ${init}`,
      ),
    ...report.nodes
      .filter(({ ready }) => !ready)
      .map(({ name, reason }) => `Node ${name} is not Ready: ${reason ?? "it says nothing"}`),
  ];
}
