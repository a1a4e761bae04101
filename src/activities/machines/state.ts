import { gunzipSync, gzipSync } from "node:zlib";
import { z } from "zod";
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
  return compress(Object.fromEntries(kept));
}

const compress = (machineDeployments: object): MachineState => ({
  state: gzipSync(JSON.stringify({ machineDeployments }), { level: 9 }).toString("base64"),
});

/** The names of the machines in a state. */
export function machinesIn({ state }: MachineState): string[] {
  return Object.values(deploymentsIn(state)).flatMap(({ machines }) => machines.map(({ metadata }) => metadata.name));
}

/**
 * Renders the state that another seed wrote anew, for this namespace. A Worker's controller creates what a state holds as it is
 * written there, with rights on all namespaces of the seed: so each object keeps name, labels, annotations and spec, and nothing else of
 * its metadata. Throws what is wrong with a state of another form.
 */
export function machineStateFor(namespace: string, content: unknown): MachineState {
  const { state } = compressed.parse(content);
  const here = ({ metadata, spec }: KeptObject) => ({ metadata: { ...metadata, namespace }, spec });
  const kept = Object.entries(deploymentsIn(state)).map(
    ([name, { replicas, machineSets, machines }]): [string, object] => [
      name,
      { replicas, machineSets: machineSets.map(here), machines: machines.map(here) },
    ],
  );
  return kept.length === 0 ? noMachines : compress(Object.fromEntries(kept));
}

/** Throws for another form than that which our workers write; what else is in an object is left out. */
function deploymentsIn(state: string): z.infer<typeof uncompressed>["machineDeployments"] {
  if (state === "") return {};
  const text = gunzipSync(Buffer.from(state, "base64"), { maxOutputLength: MOST_BYTES }).toString();
  return uncompressed.parse(parseJson(text, "machine state")).machineDeployments;
}

const compressed = z.object({ state: z.string() });

const objectName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "is not the name of an object");
const texts = z.record(z.string(), z.string());

const keptObject = z.object({
  metadata: z.object({ name: objectName, labels: texts.optional(), annotations: texts.optional() }),
  spec: z.record(z.string(), z.unknown()).optional(),
});

type KeptObject = z.infer<typeof keptObject>;

const uncompressed = z.object({
  machineDeployments: z
    .record(
      objectName,
      z.object({
        replicas: z.int().nonnegative(),
        machineSets: z.array(keptObject),
        machines: z.array(keptObject),
      }),
    )
    .default({}),
});

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
