import { isOwnKey, MACHINE_STATE_ANNOTATION } from "../../api/annotations.ts";
import { PERSIST_LABEL } from "../../api/labels.ts";
import { OPERATION_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { definitionOf, statefulKinds } from "../../api/extensions/kinds.ts";
import { listExtensionObjects } from "../extensions/list.ts";
import { Secret, type KubeClient, type Kind } from "../../kube/index.ts";
import { isPrepared } from "../secrets/prepared.ts";
import type { StateItem } from "./entry.ts";

/** An extension object, as far as its state is concerned. */
export interface StatefulObject extends KubeObject {
  readonly spec?: { readonly type?: string; readonly purpose?: string | undefined };
  readonly status?:
    { readonly state?: unknown; readonly resources?: readonly ResourceReference[] | undefined } | undefined;
}

/** What a state calls one of the objects that it needs. */
export interface ResourceReference {
  readonly name: string;
  readonly resourceRef: { readonly apiVersion?: string | undefined; readonly kind: string; readonly name: string };
}

/** Everything in a Shoot's namespace in a seed, or of it in no namespace, that cannot be made again. */
export interface StateObjects {
  readonly secrets: readonly Secret[];
  readonly extensions: readonly StatefulObject[];
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
export function itemsOf({ secrets, extensions }: StateObjects): StateItem[] {
  const own = secrets.filter((secret) => isStaying(secret) && !isPrepared(secret));
  return [...own.map(secretItem), ...extensions.filter(isStaying).flatMap(extensionItem)];
}

/** The objects to which states refer by name, read from the Shoot's namespace. */
export async function readReferenced(
  seedClient: KubeClient,
  namespace: string,
  { extensions }: StateObjects,
): Promise<StateItem[]> {
  const refs = extensions.filter(isStaying).flatMap(({ status }) => status?.resources ?? []);
  const unique = new Map(
    refs.map(({ resourceRef: { apiVersion = "v1", kind, name } }) => [
      `${apiVersion}/${kind}/${name}`,
      { apiVersion, kind, name },
    ]),
  );
  const items = await Promise.all(
    [...unique.values()].map(async (fields) => {
      const object = await seedClient.read({ ...fields, namespace });
      return object !== undefined && isStaying(object) ? [resourceItem(fields, object)] : [];
    }),
  );
  return items.flat();
}

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

function secretItem({ metadata: { name, labels }, type, immutable, data = {} }: Secret): StateItem {
  const content = { type: type ?? "Opaque", data, ...(immutable === undefined ? {} : { immutable }) };
  return { section: "gardener", fields: { name, type: "secret", ...(labels && { labels }) }, content };
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

function resourceItem(fields: StateItem["fields"], { metadata, ...object }: KubeObject): StateItem {
  const { name, labels, annotations = {} } = metadata;
  const others = Object.entries(annotations).filter(([key]) => !isOwnKey(key)); // ours change by themselves
  const kept = {
    name,
    ...(labels && { labels }),
    ...(others.length > 0 && { annotations: Object.fromEntries(others) }),
  };
  return { section: "resources", fields, content: { ...object, metadata: kept } };
}
