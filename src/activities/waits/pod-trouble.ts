import type { ErrorCode } from "../../api/error-codes.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Pod, type ContainerStatus, type StatusCondition } from "../../kube/kinds.ts";
import { withoutSecrets } from "../../redaction.ts";
import { cut, entryOf, saidBy } from "./log-words.ts";

/** What keeps a pod from its work. */
export interface PodTrouble {
  /** What of the pod has it: the same words however often a container ends, and in whichever pod. */
  readonly about: string;
  /** In one line. */
  readonly message: string;
  /** Where the container says that it cannot work with what it was told. */
  readonly codes: readonly ErrorCode[];
}

/**
 * What the latest pod of a workload or Job that has trouble says of it, or why no pod can be made; undefined when none has, or none is
 * left.
 */
export async function findPodTrouble(
  seedClient: Pick<KubeClient, "list">,
  { metadata: { namespace = "" }, ...object }: KubeObject,
): Promise<PodTrouble | undefined> {
  const { selector } = object["spec"] as { readonly selector: { readonly matchLabels: Record<string, string> } };
  const labelSelector = Object.entries(selector.matchLabels)
    .map(([label, value]) => `${label}=${value}`)
    .join(",");
  return podTrouble(await seedClient.list(Pod, { namespace, labelSelector })) ?? withoutPods(object);
}

/** A quota, a policy or a webhook of the seed may refuse pods: the Deployment says so. */
function withoutPods(object: Readonly<Record<string, unknown>>): PodTrouble | undefined {
  const { conditions = [] } = (object["status"] ?? {}) as { readonly conditions?: readonly StatusCondition[] };
  const failure = conditions.find(({ type, status }) => type === "ReplicaFailure" && status === "True");
  if (failure?.message === undefined) return undefined;
  return { about: "no pods", message: `no pod can be made: ${lastWords(failure.message)}`, codes: [] };
}

/** The same of pods that were read already. What becomes of one that is being deleted is of no interest. */
export function podTrouble(pods: readonly Pod[]): PodTrouble | undefined {
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const latestFirst = staying.toSorted((a, b) => createdAt(b).localeCompare(createdAt(a)));
  for (const pod of latestFirst) {
    const trouble = troubleOf(pod);
    if (trouble !== undefined) return { ...trouble, message: `pod ${pod.metadata.name}, ${trouble.message}` };
  }
  return undefined;
}

function troubleOf({ status = {} }: Pod): PodTrouble | undefined {
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  for (const container of containers) {
    const words = wordsOf(container);
    const about = `container ${container.name}`;
    if (words !== undefined) return { about, message: `${about}: ${words}`, codes: codesOf(container.name, words) };
  }
  const unscheduled = status.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "False");
  if (unscheduled?.message === undefined) return undefined;
  return { about: "not scheduled", message: `not scheduled: ${lastWords(unscheduled.message)}`, codes: [] };
}

/**
 * A component of Kubernetes whose flags users shape says `Error: …` of a flag, and `"command failed" err=…` of what flags and files hold
 * together; of others that do not answer it says the latter, too.
 */
function codesOf(container: string, words: string): ErrorCode[] {
  const isRefusal = /\bexit code [12]\b/.test(words) && /\bError: |"command failed"/.test(words);
  return shaped.has(container) && isRefusal && !unreached.test(words) ? ["ERR_CONFIGURATION_PROBLEM"] : [];
}

const shaped: ReadonlySet<string> = new Set([
  ...["kube-apiserver", "kube-controller-manager", "kube-scheduler", "cluster-autoscaler"],
]);

const unreached =
  /deadline exceeded|connection (refused|reset)|dial (tcp|unix)|timed? ?out|no such host|address already in use|etcdserver|\bEOF\b|x509|tls:|unavailable|TransientFailure/i;

/** One that runs again after it ended in an error is no better until it is ready. */
function wordsOf({ state = {}, lastState = {}, ready = false }: ContainerStatus): string | undefined {
  const { terminated, waiting } = state;
  if (terminated !== undefined) return endOf(terminated);
  const before = endOf(lastState.terminated);
  if (waiting?.reason === undefined || ordinary.has(waiting.reason)) return ready ? undefined : before;
  if (before !== undefined) return `${waiting.reason}, ${before}`;
  return waiting.message === undefined ? waiting.reason : `${waiting.reason}: ${lastWords(waiting.message)}`;
}

function endOf(terminated: NonNullable<ContainerStatus["state"]>["terminated"]): string | undefined {
  if (terminated === undefined || terminated.exitCode === 0) return undefined;
  const { exitCode, reason = "Error", message = "" } = terminated;
  const end = reason === "Error" ? `exit code ${exitCode}` : `${reason}, exit code ${exitCode}`;
  return message.trim() === "" ? end : `${end}: ${lastWords(message)}`;
}

/** A container waits like this while nothing is wrong. */
const ordinary: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

/** The last whole lines of a log, as many as are short together; a single longer one is cut. */
export function lastWords(log: string): string {
  const lines = withoutSecrets(log).split("\n").map(readable).filter(Boolean);
  let words = lines.pop() ?? "";
  for (let line = lines.pop(); line !== undefined; line = lines.pop()) {
    if (line.length + words.length + separator.length > LONGEST) break;
    words = `${line}${separator}${words}`;
  }
  return cut(words, LONGEST);
}

/** In characters. */
const LONGEST = 300;

const separator = " | ";

/** etcd's tools log lines of JSON. */
function readable(line: string): string {
  const text = line.trim();
  return saidBy(entryOf(text) ?? {}) || text;
}

const createdAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? "";
