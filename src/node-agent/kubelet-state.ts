import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseJson, parseYaml } from "../parsing.ts";
import { exists, passing, removeFile, writeWhole } from "./whole-file.ts";

/** The kubelet's unit, which stops while its state is removed. */
export const KUBELET = "kubelet.service";

const CONFIG = "/var/lib/kubelet/config/kubelet";

/** Where a machine that was not made for the cluster changes the configuration. */
const HOST_SETTINGS = "/etc/kubernetes/kubelet.conf.d";

/** Under which settings the state was allowed. A machine has it while a manager gives pods CPUs or memory of their own. */
const NOTE = "/var/lib/gardener-node-agent/kubelet-managers.json";

/** A manager of a kubelet that keeps its state in a file, and does not start with that of another policy. */
interface Manager {
  readonly state: string;
  readonly policy: string;
  /** The policy without which nothing else of the settings counts. */
  readonly none: string;
  readonly settings: readonly string[];
  readonly resource: string;
}

const managers = {
  cpu: {
    ...{ state: "/var/lib/kubelet/cpu_manager_state", policy: "cpuManagerPolicy", none: "none", resource: "cpu" },
    settings: ["cpuManagerPolicyOptions", "reservedSystemCPUs"],
  },
  memory: {
    ...{ state: "/var/lib/kubelet/memory_manager_state", policy: "memoryManagerPolicy", none: "None" },
    ...{ resource: "memory", settings: ["reservedMemory"] },
  },
} as const satisfies Readonly<Record<string, Manager>>;

type Settings = Readonly<Record<string, unknown>>;
type Note = Readonly<Record<string, unknown>>;

/** How a kubelet is stopped, and the work followed. */
export interface Forgetting {
  readonly stop: () => Promise<unknown>;
  readonly tell: (message: string) => void;
}

/** Keeps under which settings the kubelet runs, where that is not known; to be called before its configuration changes. */
export async function noteKubeletSettings(root: string): Promise<void> {
  if (!(await exists(join(root, NOTE)))) await keepNote(root, await readSettings(root));
}

/**
 * Removes the state of a kubelet's CPUs and memory that is of another policy, or of other reserved CPUs or memory than the configuration
 * has by now: with it the kubelet does not start. The kubelet is stopped before, as it would write its state once more; the caller starts
 * it. A kill at any moment is made good by the next call.
 */
export async function forgetKubeletState(root: string, { stop, tell }: Forgetting): Promise<void> {
  const settings = await readSettings(root);
  if (settings === undefined) return;
  const note = await readNote(root);
  const stale: string[] = [];
  for (const [name, manager] of Object.entries<Manager>(managers))
    if (await isStale(root, manager, { settings, noted: note[name] })) stale.push(manager.state);
  if (stale.length > 0) {
    tell(`stop unit ${KUBELET}, whose state is of other settings`);
    await stop();
  }
  for (const path of stale) {
    tell(`remove ${path}`);
    await removeFile(join(root, path));
  }
  if (stale.length > 0) tell("keep the settings of the kubelet's managers");
  await keepNote(root, settings);
}

async function isStale(
  root: string,
  manager: Manager,
  { settings, noted }: { readonly settings: Settings; readonly noted: unknown },
): Promise<boolean> {
  const text = await readFile(join(root, manager.state), "utf8").catch(passing("ENOENT", "ENOTDIR"));
  if (text === undefined) return false;
  if (policyIn(text) !== policyOf(manager, settings)) return true;
  return noted !== undefined && isExclusive(manager, settings) && noted !== keyOf(manager, settings);
}

/** A state that cannot be read is of no policy; a kubelet does not start with it, either. */
function policyIn(text: string): unknown {
  try {
    return (parseJson(text, "the state") as { policyName?: unknown } | null)?.policyName;
  } catch {
    return undefined;
  }
}

const policyOf = ({ policy, none }: Manager, settings: Settings): unknown => settings[policy] ?? none;

const isExclusive = (manager: Manager, settings: Settings): boolean => policyOf(manager, settings) !== manager.none;

function keyOf({ settings: names, resource }: Manager, settings: Settings): string {
  const reserved = ["kubeReserved", "systemReserved"].map((name) => fieldsIn(settings[name])[resource] ?? null);
  const threshold = fieldsIn(settings["evictionHard"])[`${resource}.available`] ?? null;
  return JSON.stringify([...names.map((name) => settings[name] ?? null), ...reserved, threshold]);
}

async function readNote(root: string): Promise<Note> {
  const text = await readFile(join(root, NOTE), "utf8").catch(passing("ENOENT", "ENOTDIR"));
  try {
    return fieldsIn(text === undefined ? undefined : parseJson(text, "the note"));
  } catch {
    return {};
  }
}

async function keepNote(root: string, settings: Settings | undefined): Promise<void> {
  const file = join(root, NOTE);
  const exclusive = Object.entries<Manager>(managers).filter(
    ([, manager]) => settings !== undefined && isExclusive(manager, settings),
  );
  if (exclusive.length === 0) return await removeFile(file);
  const note = Object.fromEntries(exclusive.map(([name, manager]) => [name, keyOf(manager, settings ?? {})]));
  const bytes = Buffer.from(`${JSON.stringify(note)}\n`);
  const before = await readFile(file).catch(passing("ENOENT", "ENOTDIR"));
  if (before?.equals(bytes) !== true) await writeWhole(file, bytes, 0o600);
}

/** The kubelet's configuration as it is on the machine, with the machine's own changes; undefined where there is none that can be read. */
async function readSettings(root: string): Promise<Settings | undefined> {
  const names = (await readdir(join(root, HOST_SETTINGS)).catch(passing("ENOENT", "ENOTDIR"))) ?? [];
  const files = names.filter((name) => name.endsWith(".conf")).toSorted();
  const [own, ...others] = await Promise.all(
    [CONFIG, ...files.map((name) => `${HOST_SETTINGS}/${name}`)].map((path) => readFields(join(root, path))),
  );
  if (own === undefined) return undefined;
  return others.reduce<Settings>((all, one) => merged(all, one ?? {}), own);
}

/** The kubelet says what is wrong with a configuration. */
async function readFields(file: string): Promise<Settings | undefined> {
  const text = await readFile(file, "utf8").catch(passing("ENOENT", "ENOTDIR"));
  try {
    return text === undefined ? undefined : fieldsIn(parseYaml(text, file));
  } catch {
    return undefined;
  }
}

const merged = (one: Settings, other: Settings): Settings => {
  const both = Object.entries(other).map(([name, value]) => {
    const before = one[name];
    return [name, isFields(before) && isFields(value) ? { ...before, ...value } : value] as const;
  });
  return { ...one, ...Object.fromEntries(both) };
};

const isFields = (value: unknown): value is Settings =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const fieldsIn = (value: unknown): Settings => (isFields(value) ? value : {});
