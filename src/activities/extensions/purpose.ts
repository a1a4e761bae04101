import { contractOf, type AppliedKind, type Purpose } from "../../api/extensions/kinds.ts";
import type { Phased } from "../../api/extensions/lifecycle.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";

/** Under which purpose an operation acts on objects of a kind; without one, it acts on all of them. */
interface Acting {
  readonly run: ShootRun;
  readonly purpose: Purpose | undefined;
  readonly operation: Phased;
}

/** Whether an operation acts on an object of the kind under this purpose. */
export function isOf(kind: AppliedKind, object: KubeObject, { run, purpose, operation }: Acting): boolean {
  const { purposeAt, nameOf } = contractOf(kind);
  if (purpose === undefined) return true;
  if (purposeAt !== undefined) return purpose === purposeAt(run.extensions, typeOf(object), operation);
  return object.metadata.name === nameOf?.(run, purpose);
}

/** `spec.type` of an extension object. */
export const typeOf = (object: KubeObject): string => (object as { spec?: { type?: string } }).spec?.type ?? "";

/** The purpose that the name of a kind's object says; undefined where names say none. */
export function purposeByName(kind: AppliedKind, run: ShootRun, name: string): string | undefined {
  const { purposes = [], nameOf } = contractOf(kind);
  return purposes.find((one) => nameOf?.(run, one) === name);
}
