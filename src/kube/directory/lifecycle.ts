import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { TypeRef } from "../../api/schema/kind.ts";
import type { KubeObject, ObjectMeta } from "../../api/schema/meta.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { refOf } from "../path.ts";
import { isLabel } from "./places.ts";
import { invalid, type Call } from "./refusals.ts";
import { groupOf, hasGeneration } from "./traits.ts";

/** What a server gives an object that begins to exist; `at` is now. */
export function born(object: KubeObject, at: string): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const given = { uid: randomUUID(), creationTimestamp: at, ...(hasGeneration(object) && { generation: 1 }) };
  const named = omitUndefined({
    name: metadata.name,
    namespace: metadata.namespace,
    generateName: metadata.generateName,
  }) as ObjectMeta;
  return { apiVersion, kind, metadata: { ...named, ...given } };
}

/** The object as a server stores a new one: with what it fills in, without a status, which is written apart. */
export function asCreated(object: KubeObject, begun: KubeObject, call: Call): KubeObject {
  const { status: _, ...rest } = completed(object);
  checkName(object, call);
  const { labels, annotations, finalizers, ownerReferences } = object.metadata;
  const metadata = { ...begun.metadata, ...omitUndefined({ labels, annotations, finalizers, ownerReferences }) };
  const created = { ...rest, metadata };
  if (!isKind(object, "", "Namespace")) return created;
  const name = { "kubernetes.io/metadata.name": metadata.name };
  return { ...created, metadata: { ...metadata, labels: { ...labels, ...name } }, status: { phase: "Active" } };
}

/** The object as a server stores a change of all but its status: what belongs to the server stays, and it counts the change. */
export function asChanged(live: KubeObject, next: KubeObject, call: Call): KubeObject {
  const { status: _, ...rest } = completed(next);
  const { labels, annotations, finalizers, ownerReferences } = next.metadata;
  const { uid, creationTimestamp, generation, deletionTimestamp, deletionGracePeriodSeconds, managedFields } =
    live.metadata;
  const { resourceVersion, name, namespace, generateName } = live.metadata;
  const servers = { uid, resourceVersion, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds };
  const counted = generation === undefined || wantsTheSame(live, rest) ? generation : generation + 1;
  const metadata = omitUndefined({
    ...{ name, namespace, generateName, ...servers, generation: counted, managedFields },
    ...{ labels, annotations, finalizers, ownerReferences },
  }) as ObjectMeta;
  const changed = { ...rest, ...omitUndefined({ status: live["status"] }), metadata } as KubeObject;
  checkChange(live, changed, call);
  return changed;
}

/** The object with another status, and nothing else of it changed. */
export function withStatus(live: KubeObject, { status }: KubeObject): KubeObject {
  const { status: _, ...rest } = live;
  return { ...rest, ...omitUndefined({ status }) };
}

/** The object as it waits for its finalizers to go. */
export function asGoing(live: KubeObject, at: string): KubeObject {
  const { generation } = live.metadata;
  const going = { deletionTimestamp: at, deletionGracePeriodSeconds: 0 };
  const counted = omitUndefined({ generation: generation === undefined ? undefined : generation + 1 });
  return { ...live, metadata: { ...live.metadata, ...going, ...counted } };
}

/** Whether an object is being deleted and nothing holds it any more. */
export function isOver({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
}

/** Secrets are stored in base64 only, and have a type. */
export function completed(object: KubeObject): KubeObject {
  if (!isKind(object, "", "Secret")) return object;
  const { stringData, ...secret } = object;
  const texts = Object.entries((stringData ?? {}) as Readonly<Record<string, string>>);
  const encoded = Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
  const data = { ...(secret["data"] as object | undefined), ...encoded };
  return { ...secret, ...(Object.keys(data).length > 0 && { data }), type: secret["type"] ?? "Opaque" };
}

/** Whether an object is of a kind, in any version. */
export function isKind({ apiVersion, kind }: TypeRef, group: string, name: string): boolean {
  return kind === name && groupOf(apiVersion) === group;
}

function wantsTheSame(a: KubeObject, b: KubeObject): boolean {
  const wanted = ({ apiVersion: _, kind: __, metadata: ___, status: ____, ...rest }: KubeObject) => rest;
  return isDeepStrictEqual(wanted(a), wanted(b));
}

function checkChange(live: KubeObject, next: KubeObject, call: Call): void {
  const { deletionTimestamp, finalizers: had = [] } = live.metadata;
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !had.includes(finalizer));
  if (deletionTimestamp !== undefined && added.length > 0) {
    const why = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
    throw invalid(call, refOf(live), "metadata.finalizers", why);
  }
  if (live["immutable"] !== true || !["Secret", "ConfigMap"].some((kind) => isKind(live, "", kind))) return;
  for (const field of ["immutable", "data", "binaryData"])
    if (!isDeepStrictEqual(live[field], next[field]))
      throw invalid(call, refOf(live), field, "Forbidden: field is immutable when `immutable` is set");
}

function checkName(object: KubeObject, call: Call): void {
  const { name } = object.metadata;
  const isRight = groupOf(object.apiVersion) === "rbac.authorization.k8s.io";
  if (isRight || (isKind(object, "", "Namespace") ? isLabel(name) : isSubdomain(name))) return;
  throw invalid(
    call,
    refOf(object),
    "metadata.name",
    `Invalid value: ${JSON.stringify(name)}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'`,
  );
}

const isSubdomain = (text: string): boolean =>
  text.length <= 253 && text.split(".").every((part) => /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(part));
