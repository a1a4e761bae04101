import { gunzipSync, gzipSync } from "node:zlib";
import { EPOCH_ANNOTATION, MACHINE_STATE_ANNOTATION, OPERATION_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { parseJson } from "../../parsing.ts";
import { unlessGone, type KubeClient } from "../../kube/index.ts";
import type { StateItem } from "../state/entry.ts";
import { Machine, MachineDeployment, MachineSet, type MachineObject } from "./kinds.ts";

/** The objects of machine-controller-manager in a Shoot's namespace. */
export interface MachineObjects {
  readonly deployments: readonly MachineObject[];
  readonly sets: readonly MachineObject[];
  readonly machines: readonly MachineObject[];
}

/** A Shoot's machines as upstream keeps them: JSON, compressed, in base64; empty where there are none. */
export interface MachineState {
  readonly state: string;
}

/** The state of a Shoot without machines; a Worker controller that is given none looks for one in the garden. */
export const noMachines: MachineState = { state: "" };

/** Where a ShootState has it. */
export const machineStateFields = { name: "machine-state", type: "machine-state" } as const;

/** Reads them from the seed's API server; nothing where it does not know their kinds. */
export async function readMachineObjects(seedClient: KubeClient, namespace: string): Promise<MachineObjects> {
  const list = async (kind: typeof Machine) => (await unlessGone(seedClient.list(kind, { namespace }))) ?? [];
  const [deployments, sets, machines] = await Promise.all([MachineDeployment, MachineSet, Machine].map(list));
  return { deployments: deployments ?? [], sets: sets ?? [], machines: machines ?? [] };
}

/**
 * What has to be known to go on with these machines elsewhere, as upstream writes it (`shootstate.MarshalMachineState`):
 * of each MachineDeployment the number of its machines, its sets and its machines, without owners and status. A machine
 * that has neither a provider's id nor a Node is left out. The same objects give the same text, in whatever order.
 */
export function machineStateOf({ deployments, sets, machines }: MachineObjects): MachineState {
  const made = machines.filter(({ metadata, spec }) => metadata.labels?.["node"] !== undefined || spec?.providerID);
  const kept = byName(deployments).flatMap((deployment): [string, object][] => {
    const { name } = deployment.metadata;
    const own = byName(sets).filter((set) => ownerOf(set, "MachineDeployment") === name);
    if (own.length === 0) return [];
    const owners = new Set([name, ...own.map(({ metadata }) => metadata.name)]);
    const machinesOfIt = byName(made).filter((machine) => owners.has(ownerOf(machine, "MachineSet") ?? ""));
    return [
      [
        name,
        { replicas: deployment.spec?.replicas ?? 0, machineSets: own.map(bare), machines: machinesOfIt.map(bare) },
      ],
    ];
  });
  if (kept.length === 0) return noMachines;
  const text = JSON.stringify({ machineDeployments: Object.fromEntries(kept) });
  return { state: gzipSync(text, { level: 9 }).toString("base64") };
}

/** The names of the machines in a state. */
export function machinesIn({ state }: MachineState): string[] {
  if (state === "") return [];
  const text = gunzipSync(Buffer.from(state, "base64"), { maxOutputLength: MOST_BYTES }).toString();
  const { machineDeployments = {} } = parseJson(text, "machine state") as {
    machineDeployments?: Record<string, { machines?: readonly KubeObject[] }>;
  };
  return Object.values(machineDeployments).flatMap(({ machines = [] }) =>
    machines.map(({ metadata }) => metadata.name),
  );
}

/** Bytes of a state, decompressed: thousands of machines. */
const MOST_BYTES = 64_000_000;

/** What a ShootState keeps of it. */
export const machineStateItem = (content: MachineState): StateItem => ({
  section: "gardener",
  fields: machineStateFields,
  content,
});

/**
 * Whether the machines beside a Worker are those of this epoch: not left by an earlier one, and not being made anew from
 * what the Worker was given.
 */
export function tellsOfMachines({ metadata: { annotations = {} }, ...worker }: KubeObject, epoch: number): boolean {
  const { state } = (worker["status"] ?? {}) as { state?: unknown };
  const waits = annotations[OPERATION_ANNOTATION] === "wait-for-state";
  const hasBeenGiven = MACHINE_STATE_ANNOTATION in annotations && state !== undefined && state !== null;
  return annotations[EPOCH_ANNOTATION] === String(epoch) && !waits && !hasBeenGiven;
}

/** What of an object is kept. */
export const bare = ({ metadata: { name, namespace, labels, annotations }, spec }: MachineObject) => ({
  metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
  spec,
});

/** The name of the owner; one that was restored has none at first, and a label with its MachineDeployment's name. */
function ownerOf({ metadata }: MachineObject, kind: string): string | undefined {
  const owners = metadata.ownerReferences ?? [];
  if (owners.length === 0) return metadata.labels?.["name"];
  return owners.find((owner) => owner.kind === kind)?.name;
}

const byName = (objects: readonly MachineObject[]): readonly MachineObject[] =>
  objects.toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1));
