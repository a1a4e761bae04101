import { parseJson } from "../parsing.ts";
import type { Run } from "./commands.ts";
import type { SeenPod } from "./static-pods.ts";

/**
 * The pods of a node's containerd, with their hash as this annotation has it. It asks neither a kubelet, which lets in only
 * those of whom an API server thinks well, nor an API server: there may be none yet. It knows which containers run, and not
 * whether they are ready.
 */
export async function containerdPods(ctr: Run, annotation: string, signal?: AbortSignal): Promise<SeenPod[]> {
  const inPods = (...args: string[]) => ctr(["--namespace", "k8s.io", ...args], signal);
  const ids = words(await inPods("containers", "list", "--quiet"));
  const running = runningTasks(await inPods("tasks", "list"));
  const containers: Container[] = [];
  for (const id of ids.filter((each) => running.has(each)))
    containers.push(parseJson(await inPods("containers", "info", id), `container ${id}`) as Container);
  return containers.filter(isSandbox).map((sandbox) => podOf(sandbox, containers, annotation));
}

/** What `ctr containers info` shows, as far as it is looked at. */
interface Container {
  readonly ID: string;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly Extensions?: Readonly<Record<string, { readonly value?: string }>>;
}

const isSandbox = ({ Labels }: Container): boolean => Labels?.["io.cri-containerd.kind"] === "sandbox";

function podOf(sandbox: Container, containers: readonly Container[], annotation: string): SeenPod {
  const uid = sandbox.Labels?.[podUid];
  const mine = containers.filter((each) => !isSandbox(each) && each.Labels?.[podUid] === uid);
  return {
    namespace: sandbox.Labels?.["io.kubernetes.pod.namespace"] ?? "",
    name: sandbox.Labels?.["io.kubernetes.pod.name"] ?? "",
    hash: annotationsOf(sandbox)[annotation],
    containers: mine.map(({ Labels }) => ({ name: Labels?.["io.kubernetes.container.name"] ?? "" })),
  };
}

const podUid = "io.kubernetes.pod.uid";

/** A sandbox keeps what the kubelet has said of its pod. */
function annotationsOf({ ID, Extensions }: Container): Readonly<Record<string, string>> {
  const value = Extensions?.["io.cri-containerd.sandbox.metadata"]?.value;
  if (value === undefined) return {};
  const stored = parseJson(Buffer.from(value, "base64").toString("utf8"), `what containerd knows of sandbox ${ID}`);
  const { Metadata } = stored as { Metadata?: { Config?: { annotations?: Record<string, string> } } };
  return Metadata?.Config?.annotations ?? {};
}

function runningTasks(table: string): ReadonlySet<string> {
  const rows = table.split("\n").map((line) => line.trim().split(/\s+/));
  return new Set(rows.filter(([, , status]) => status === "RUNNING").map(([id = ""]) => id));
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");
