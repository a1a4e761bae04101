import { PERSIST_LABEL } from "../../api/labels.ts";
import { MACHINE_STATE_ANNOTATION, OPERATION_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { definitionOf, statefulKinds } from "../../api/extensions/kinds.ts";
import { listExtensionObjects } from "../extensions/list.ts";
import { inWords, refOf, Secret, type KubeClient, type Kind } from "../../kube/index.ts";
import { isPrepared } from "../secrets/prepared.ts";
import { idOfItem, type StateItem } from "./entry.ts";
import {
  bareObject,
  labelsOfKept,
  refusalOfReference,
  refusalOfSecret,
  refusalOfType,
  type ResourceReference,
} from "./handed-over.ts";

/** An extension object, as far as its state is concerned. */
export interface StatefulObject extends KubeObject {
  readonly spec?: { readonly type?: string; readonly purpose?: string | undefined };
  readonly status?:
    { readonly state?: unknown; readonly resources?: readonly ResourceReference[] | undefined } | undefined;
}

/** Everything in a Shoot's namespace in a seed, or of it in no namespace, that cannot be made again. */
export interface StateObjects {
  readonly secrets: readonly Secret[];
  readonly extensions: readonly StatefulObject[];
}

/** What of it goes along with the Shoot, and what cannot: a sentence each, with object, reason and remedy. */
export interface Collected {
  readonly items: readonly StateItem[];
  readonly refused: readonly string[];
}

/** Label of Secrets that cannot be made again. */
export const PERSISTED = `${PERSIST_LABEL}=true`;

/** The kinds of which the state is kept, to be watched. */
export const statefulTypes: readonly Kind<StatefulObject>[] = statefulKinds.map(definitionOf);

/** Reads it all from the seed's API server. */
export async function readStateObjects(
  seedClient: KubeClient,
  run: Pick<ShootRun, "name" | "technicalID" | "uid">,
): Promise<StateObjects> {
  const namespace = run.technicalID;
  const [secrets, ...extensions] = await Promise.all([
    seedClient.list(Secret, { namespace, labelSelector: PERSISTED }),
    ...statefulKinds.map((kind) => listExtensionObjects(seedClient, run, kind)),
  ]);
  return { secrets, extensions: extensions.flat() };
}

/**
 * What is to be kept of them. An object that is being deleted is not asked any more: what it had is kept already. Neither is
 * a copy of what is kept.
 */
export function itemsOf({ secrets, extensions }: StateObjects): Collected {
  const own = secrets.filter((secret) => isStaying(secret) && !isPrepared(secret));
  return joined([...own.map(secretItem), { items: extensions.filter(isStaying).flatMap(extensionItem), refused: [] }]);
}

/** The objects to which states refer by name, read from the Shoot's namespace; nothing is read that could not go along. */
export async function readReferenced(
  seedClient: KubeClient,
  namespace: string,
  { extensions }: StateObjects,
): Promise<Collected> {
  const read = extensions.filter(isStaying).map((extension) => readReferencedBy(seedClient, namespace, extension));
  const { items, refused } = joined(await Promise.all(read));
  return { items: [...new Map(items.map((item) => [idOfItem(item), item])).values()], refused };
}

async function readReferencedBy(
  seedClient: KubeClient,
  namespace: string,
  extension: StatefulObject,
): Promise<Collected> {
  const refs = (extension.status?.resources ?? []).map(({ resourceRef }) => resourceRef);
  const refuse = (what: string, why: string): Collected => ({
    items: [],
    refused: [
      `${inWords(refOf(extension))} refers in status.resources to ${what}, which cannot go along with the Shoot: ${why}; its controller must refer to other objects`,
    ],
  });
  if (refs.length > MOST_REFERENCES)
    return refuse(`${refs.length} objects`, `an extension's state may refer to ${MOST_REFERENCES}`);
  const read = refs.map(async (ref): Promise<Collected> => {
    const { apiVersion = "v1", kind, name } = ref;
    const why = refusalOfReference(ref);
    if (why !== undefined) return refuse(`${kind} ${name}`, why);
    const object = await seedClient.read({ apiVersion, kind, namespace, name });
    if (object === undefined || !isStaying(object)) return { items: [], refused: [] };
    const wrongType = refusalOfType(object);
    if (wrongType !== undefined) return refuse(`${kind} ${name}`, wrongType);
    return { items: [resourceItem({ apiVersion, kind, name }, object)], refused: [] };
  });
  return joined(await Promise.all(read));
}

/** To how many objects one extension's state may refer. */
const MOST_REFERENCES = 100;

const joined = (parts: readonly Collected[]): Collected => ({
  items: parts.flatMap(({ items }) => items),
  refused: parts.flatMap(({ refused }) => refused),
});

/** What of an extension object has to do with its state. */
export function stateOnly({ apiVersion, kind, metadata, spec, status }: StatefulObject): StatefulObject {
  return {
    apiVersion,
    kind,
    metadata,
    ...(spec?.purpose === undefined ? {} : { spec: { purpose: spec.purpose } }),
    ...(status === undefined ? {} : { status: { state: status.state, resources: status.resources ?? [] } }),
  };
}

const isStaying = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp === undefined;

function secretItem(secret: Secret): Collected {
  const { metadata, type = "Opaque", immutable, data = {} } = secret;
  const { name, labels } = metadata;
  const content = { type, data, ...(immutable === undefined ? {} : { immutable }) };
  const why = refusalOfSecret(name, content);
  if (why !== undefined)
    return {
      items: [],
      refused: [
        `${inWords(refOf(secret))} is labelled ${PERSISTED} and cannot go along with the Shoot: ${why}; remove the label or the Secret`,
      ],
    };
  const fields = { name, type: "secret", labels: labelsOfKept(name, labels) };
  return { items: [{ section: "gardener", fields, content }], refused: [] };
}

function extensionItem({ kind, metadata, spec, status = {} }: StatefulObject): StateItem[] {
  const { state, resources = [] } = status;
  if (!isOwn(metadata) || (state === undefined && resources.length === 0)) return [];
  const purpose = spec?.purpose === undefined ? {} : { purpose: spec.purpose };
  const references = resources.length === 0 ? {} : { resources };
  const fields = { kind, name: metadata.name, ...purpose, ...references };
  return [{ section: "extensions", fields, ...(state === undefined ? {} : { content: state }) }];
}

/** One that waits for its state, or has been given its machines, has none of its own to tell of. */
const isOwn = ({ annotations = {} }: KubeObject["metadata"]): boolean =>
  annotations[OPERATION_ANNOTATION] !== "wait-for-state" && !(MACHINE_STATE_ANNOTATION in annotations);

const resourceItem = (ref: ResourceReference["resourceRef"], object: KubeObject): StateItem => ({
  section: "resources",
  fields: { ...ref },
  content: bareObject(ref, object),
});
