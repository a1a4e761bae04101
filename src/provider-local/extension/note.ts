import { Worker, type Cluster, type Extension } from "../../api/index.ts";
import { referencedResourceName } from "../../api/names.ts";
import type { Actuator } from "../../extension/index.ts";
import { ConfigMap, refTo, type KubeClient } from "../../kube/index.ts";
import type { ShootAccess } from "../shoot-access.ts";

/** Where a note is kept: beside the control plane, in the Shoot, or in the Shoot with the names of its Worker's pools. */
export type NotePlace = "seed" | "shoot" | "nodes";

/** What the `providerConfig` of a note's Extension may say: its text, or which of the Shoot's resources has it under `text`. */
interface NoteConfig {
  readonly text?: string;
  readonly textFrom?: string;
}

/**
 * A small Extension: it keeps a note in a ConfigMap, named after its type, and knows in its state since when. The three places
 * need what is there before the API server, after it and after the Worker.
 */
export function createNoteActuator(place: NotePlace, shoots: ShootAccess): Actuator<Extension> {
  const open = async (object: Extension, seedClient: KubeClient) =>
    place === "seed" ? seedClient : await shoots.open(object.metadata.namespace);
  const remove: Actuator<Extension>["delete"] = async (object, _cluster, { client }) =>
    (await open(object, client)).remove(noteRef(object, place));
  const reconcile: Actuator<Extension>["reconcile"] = async (object, cluster, { client }) => {
    const state = { since: sinceOf(object) ?? new Date().toISOString() };
    if (place !== "seed" && isAsleep(cluster)) return { state };
    const target = await open(object, client);
    const { apiVersion, kind, name, namespace } = noteRef(object, place);
    const pools = place === "nodes" ? { pools: await poolsOf(object, client) } : {};
    const data = { text: await textOf(object, cluster, client), ...state, ...pools };
    await target.apply({ apiVersion, kind, metadata: { name, namespace }, data }, { fieldManager: "provider-local" });
    return { state };
  };
  return {
    reconcile,
    restore: reconcile,
    delete: remove,
    // The API server may be gone, and with it what is in the Shoot.
    forceDelete: place === "seed" ? remove : () => Promise.resolve(),
    // What is in the Shoot stays; what is beside its control plane is of no use in this seed.
    migrate: place === "seed" ? remove : () => Promise.resolve(),
  };
}

const noteRef = ({ metadata, spec }: Extension, place: NotePlace) =>
  refTo(ConfigMap, { name: spec.type, namespace: place === "seed" ? metadata.namespace : "kube-system" });

const sinceOf = ({ status }: Extension): string | undefined => (status?.state as { since?: string } | undefined)?.since;

const isAsleep = ({ spec }: Cluster): boolean => spec.shoot.spec.hibernation?.enabled === true;

/** The pools of the Shoot's Worker, which has to be done: its machines are there, whether their nodes have come or not. */
async function poolsOf({ metadata: { namespace } }: Extension, client: KubeClient): Promise<string> {
  const [worker] = await client.list(Worker, { namespace });
  if (worker?.status?.lastOperation?.state !== "Succeeded")
    throw new Error(`cannot write the note: ${namespace} has no Worker that is done`);
  return worker.spec.pools.map(({ name }) => name).join(" ");
}

async function textOf({ metadata, spec }: Extension, cluster: Cluster, client: KubeClient): Promise<string> {
  const { text = "", textFrom } = (spec.providerConfig ?? {}) as NoteConfig;
  if (textFrom === undefined) return text;
  const { resources = [] } = cluster.spec.shoot.spec;
  const name = resources.find((one) => one.name === textFrom)?.resourceRef.name;
  if (name === undefined) throw new Error(`cannot write the note: the Shoot has no resource ${textFrom}`);
  const key = { name: referencedResourceName(name), namespace: metadata.namespace };
  const found = (await client.read(ConfigMap, key))?.data?.["text"];
  if (found === undefined) throw new Error(`cannot write the note: ConfigMap ${key.name} has no text`);
  return found;
}
