import { Pod, type KubeClient, type ContainerStatus } from "../../kube/index.ts";
import { withoutSecrets } from "../../redaction.ts";
import { parseJson } from "../../parsing.ts";

/** A Job whose pods are asked; without a uid those of an earlier one of the same name may answer. */
export interface JobName {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

/** What the latest pod of a Job that has trouble says of it, in one line; undefined when none has, or none is left. */
export async function findPodTrouble(seedClient: KubeClient, { namespace = "", name, uid }: JobName) {
  const labelSelector =
    uid === undefined ? `batch.kubernetes.io/job-name=${name}` : `batch.kubernetes.io/controller-uid=${uid}`;
  return describePodTrouble(await seedClient.list(Pod, { namespace, labelSelector }));
}

/** The same of pods that were read already. */
export function describePodTrouble(pods: readonly Pod[]): string | undefined {
  const latestFirst = pods.toSorted((a, b) => createdAt(b).localeCompare(createdAt(a)));
  for (const pod of latestFirst) {
    const trouble = troubleOf(pod);
    if (trouble !== undefined) return `pod ${pod.metadata.name}, ${trouble}`;
  }
  return undefined;
}

function troubleOf({ status = {} }: Pod): string | undefined {
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  for (const { name, state } of containers) {
    const words = wordsOf(state);
    if (words !== undefined) return `container ${name}: ${words}`;
  }
  const unscheduled = status.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "False");
  return unscheduled?.message === undefined ? undefined : `not scheduled: ${lastWords(unscheduled.message)}`;
}

function wordsOf({ terminated, waiting }: NonNullable<ContainerStatus["state"]> = {}): string | undefined {
  if (terminated !== undefined && terminated.exitCode !== 0) {
    const { exitCode, reason = "Error", message = "" } = terminated;
    const end = reason === "Error" ? `exit code ${exitCode}` : `${reason}, exit code ${exitCode}`;
    return message.trim() === "" ? end : `${end}: ${lastWords(message)}`;
  }
  if (waiting?.reason === undefined || ordinary.has(waiting.reason)) return undefined;
  return waiting.message === undefined ? waiting.reason : `${waiting.reason}: ${lastWords(waiting.message)}`;
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
  return words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words;
}

/** In characters. */
const LONGEST = 300;

const separator = " | ";

/** etcd's tools log lines of JSON; what they say is in two of the fields. */
function readable(line: string): string {
  const text = line.trim();
  if (!text.startsWith("{")) return text;
  try {
    const { msg, error } = parseJson(text, "a line of the log") as { msg?: unknown; error?: unknown };
    const said = [msg, error].filter((one) => typeof one === "string" && one !== "");
    return said.length === 0 ? text : said.join(": ");
  } catch {
    return text;
  }
}

const createdAt = ({ metadata }: Pod): string => metadata.creationTimestamp ?? "";
