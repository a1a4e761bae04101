import type { KubeObject } from "../../api/schema/meta.ts";
import { PERSIST_LABEL } from "../../api/labels.ts";
import { SSH_KEY_PAIR } from "../../api/names.ts";
import { lastingSecrets } from "../secrets/plan.ts";
import { labelsOfLasting, SECRETS_MANAGER_IDENTITY } from "../secrets/store.ts";
import { isReservedName } from "./reserved-names.ts";

/*
 * A ShootState is written by one seed and used by another, and much of it by an extension. So what it holds is content: it
 * never decides which kind of object is made of it, nor with which labels and annotations, by which others would act on it.
 */

/** What a state calls one of the objects that it needs. */
export interface ResourceReference {
  readonly name: string;
  readonly resourceRef: { readonly apiVersion?: string | undefined; readonly kind: string; readonly name: string };
}

/** Returns why the object of a reference in an extension's `status.resources` cannot go along with a Shoot; undefined if it can. */
export function refusalOfReference({
  apiVersion = "v1",
  kind,
  name,
}: ResourceReference["resourceRef"]): string | undefined {
  if (apiVersion !== "v1" || (kind !== "Secret" && kind !== "ConfigMap"))
    return "only Secrets and ConfigMaps can go along with a Shoot";
  return isReservedName(name) ? "the name belongs to the control plane itself" : undefined;
}

/** Returns the same for a Secret labelled `persist=true`: one of the control plane's own that lasts, or an extension's. */
export function refusalOfSecret(name: string, content: unknown): string | undefined {
  if (!isLasting(name) && isReservedName(name)) return "the name belongs to the control plane itself";
  return refusalOfType(content);
}

/** Returns why such content cannot go along: Secrets of other types are credentials or act by themselves. */
export function refusalOfType(content: unknown): string | undefined {
  const { type = "Opaque" } = (content ?? {}) as { readonly type?: string };
  return type === "Opaque"
    ? undefined
    : `it is of type ${type}, and only Secrets of type Opaque can go along with a Shoot`;
}

/**
 * The labels of a Secret that is kept: of the control plane's own those that it is made with; of others those by which the
 * secrets manager of an extension finds its Secrets, and no others.
 */
export function labelsOfKept(name: string, labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  if (isLasting(name)) return labelsOfLasting(name);
  const kept = Object.entries(labels).filter(
    ([key, value]) => managerLabels.has(key) && !(key === IDENTITY && value === SECRETS_MANAGER_IDENTITY),
  );
  return { ...Object.fromEntries(kept), [PERSIST_LABEL]: "true" };
}

/** The content of a referenced object, as a new object of that name without labels, annotations, owners and finalizers. */
export function bareObject(
  { apiVersion = "v1", kind, name }: ResourceReference["resourceRef"],
  content: unknown,
  namespace?: string,
): KubeObject {
  const given = (content ?? {}) as Readonly<Record<string, unknown>>;
  const fields = ["data", "binaryData", "immutable"].filter((field) => given[field] !== undefined);
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    ...(kind === "Secret" && { type: "Opaque" }),
    ...Object.fromEntries(fields.map((field) => [field, given[field]])),
  };
}

const isLasting = (name: string): boolean => lastingSecrets.includes(name) || name === SSH_KEY_PAIR;

const IDENTITY = "manager-identity";

/** Upstream: `pkg/utils/secrets/manager`. */
const managerLabels: ReadonlySet<string> = new Set([
  "name",
  "managed-by",
  IDENTITY,
  "checksum-of-config",
  "checksum-of-signing-ca",
  "bundle-for",
  "last-rotation-initiation-time",
  "issued-at-time",
  "valid-until-time",
  "renew-after-validity-percentage",
]);
