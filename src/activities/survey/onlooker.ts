import { isDeepStrictEqual } from "node:util";
import { OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import {
  inWords,
  refOf,
  type KubeClient,
  type ObjectRef,
  type Selection,
  type TypeRef,
  type WriteOptions,
} from "../../kube/index.ts";
import type { Answers } from "./answers.ts";
import { changesOf } from "./differences.ts";

/** Ends the work of an {@link onlooker} at the first write that would change something. */
export class WouldChange extends Error {
  override readonly name = "WouldChange";
  /** The object stays as it is, but for a request to its controller to act. */
  readonly asks: boolean;

  constructor(message: string, asks = false) {
    super(message);
    this.asks = asks;
  }

  /** Says which fields of an object would change. */
  static of(ref: ObjectRef, fields: readonly string[]): WouldChange {
    const own = fields.filter((field) => !requests.has(field));
    return own.length === 0
      ? new WouldChange(`${inWords(ref)}: its controller is asked to act`, true)
      : new WouldChange(`${inWords(ref)}: ${own.join(", ")}`);
  }
}

/** The annotations with which a controller is asked to act. */
const requests = new Set([OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION].map((name) => `metadata.annotations.${name}`));

/** From where an {@link onlooker} knows what it need not ask for. */
export interface Knowledge {
  /** What this namespace has many of is listed at once. */
  readonly namespace?: string;
  /** What is applied with this label, `true` on all that is ours, is listed at once: a list for each kind. */
  readonly label?: string;
  /** An object as a watch has it; undefined where none does. */
  readonly seen?: (ref: ObjectRef) => KubeObject | undefined;
  /** What the API server has answered before. */
  readonly answers?: { readonly of: Answers; readonly cluster: string };
}

/**
 * A client that writes nothing: a write that would change nothing is answered with the object as it is, any other throws
 * {@link WouldChange}. So work that comes to its end with it has seen the world as it is, and would leave it so. Whether an
 * apply changes something, the API server says in a dry run: with all who have a say in it, such as an extension's webhook.
 * What was read once is not read again, and what is known otherwise is not asked for.
 */
export function onlooker(client: KubeClient, { namespace, label, seen, answers }: Knowledge = {}): KubeClient {
  const known = new Map<string, Promise<unknown>>();
  const once = <T>(key: readonly unknown[], ask: () => Promise<T>): Promise<T> => {
    const name = JSON.stringify(key);
    const asked = (known.get(name) as Promise<T> | undefined) ?? ask();
    known.set(name, asked);
    return asked;
  };

  const list = ({ apiVersion, kind }: TypeRef, selection: Selection = {}): Promise<KubeObject[]> =>
    once(["list", apiVersion, kind, selection], () => client.list({ apiVersion, kind }, selection));

  const read = async (type: TypeRef | ObjectRef, key?: Pick<ObjectRef, "name" | "namespace">) => {
    const { apiVersion, kind, name, namespace: where } = { ...type, ...key } as ObjectRef;
    const ref = { apiVersion, kind, name, ...(where === undefined ? {} : { namespace: where }) };
    if (where === undefined || where !== namespace || !numerous.has(kind))
      return await once(["read", ref], async () => seen?.(ref) ?? (await client.read(ref)));
    return (await list(ref, { namespace })).find((object) => object.metadata.name === name);
  };

  /** What is there of an object that is applied. One that has lost our label is not in the list. */
  const find = async (object: KubeObject) => {
    if (label === undefined || object.metadata.labels?.[label] !== "true") return await read(refOf(object));
    const ours = await list(object, { labelSelector: `${label}=true` });
    return ours.find((one) => inWords(refOf(one)) === inWords(refOf(object))) ?? (await read(refOf(object)));
  };

  /** What an apply would make of what is there. */
  const outcome = async (object: KubeObject, existing: KubeObject, o: WriteOptions): Promise<KubeObject> => {
    if (answers?.of.hold(answers.cluster, existing, object) === true) return existing;
    const after = await once(["apply", object], () => client.apply(object, { ...o, dryRun: true }));
    if (changesOf(existing, after).length === 0) answers?.of.keep(answers.cluster, existing, object);
    return after;
  };

  const wouldChange = async (verb: string, ref: ObjectRef): Promise<never> => {
    throw new WouldChange(`${inWords(ref)} is ${verb}`);
  };

  /** What is there, where it would be there afterwards, too. */
  const unchanged = <T extends KubeObject>(existing: T, after: KubeObject): T => {
    const fields = changesOf(existing, after);
    if (fields.length === 0) return existing;
    throw WouldChange.of(refOf(existing), fields);
  };

  const looks = {
    list,
    read,
    async apply(object: KubeObject, o: WriteOptions = {}) {
      const existing = await find(object);
      if (existing === undefined)
        return o.dryRun === true ? await client.apply(object, o) : await wouldChange("made", refOf(object));
      const after = await outcome(object, existing, o);
      return o.dryRun === true ? after : unchanged(existing, after);
    },
    async patch(ref: ObjectRef, patch: object) {
      const existing = await read(ref);
      // An empty patch has the API server store the object anew; one of operations may say anything.
      const isMerge = !Array.isArray(patch) && Object.keys(patch).length > 0;
      if (existing === undefined || !isMerge) return await wouldChange("patched", ref);
      const after = merged(existing, patch) as KubeObject;
      return isDeepStrictEqual(after["status"], existing["status"])
        ? unchanged(existing, after)
        : await wouldChange("given another status", ref);
    },
    async remove(ref: ObjectRef) {
      if ((await read(ref)) !== undefined) await wouldChange("removed", ref);
    },
    async removeAll(type: TypeRef, { namespace: where, labelSelector, fieldSelector }: Selection) {
      const [first] = await list(type, omitUndefined({ namespace: where, labelSelector, fieldSelector }));
      if (first !== undefined) await wouldChange("removed", refOf(first));
    },
    create: (object: KubeObject) => wouldChange("made", refOf(object)),
    createSubresource: (ref: ObjectRef) => wouldChange("asked for more", ref),
    replace: (object: KubeObject) => wouldChange("replaced", refOf(object)),
    applyStatus: (object: KubeObject) => wouldChange("given another status", refOf(object)),
    replaceStatus: (object: KubeObject) => wouldChange("given another status", refOf(object)),
    close: async () => {},
  };
  const { server, bounds, metadata, snapshot, watch, types, get } = client;
  const asTheyAre = { server, bounds, metadata, snapshot, watch, types, get };
  const whole = { ...asTheyAre, ...looks } satisfies Record<keyof KubeClient, unknown>; // a new method has to be thought of
  return whole as unknown as KubeClient; // the generics of a client do not matter to what is compared
}

/** Kinds of which a Shoot's namespace has so many that one list costs less than what would be read one by one. */
const numerous: ReadonlySet<string> = new Set(["NetworkPolicy", "Secret"]);

/** A JSON merge patch, carried out (RFC 7396). */
function merged(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result = isFields(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
