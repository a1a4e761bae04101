import { OPERATION_ANNOTATION } from "../../api/annotations.ts";
import { EXTENSIONS_API, waitingOf, type ExtensionKind } from "../../api/extensions/kinds.ts";
import type { ShootExtension } from "../../api/extensions/lifecycle.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { WaitTarget } from "../index.ts";
import type { ExtensionLike } from "../waits/readiness.ts";
import { typeOf } from "./purpose.ts";

/** What a wait goes by besides the object: the request, and what registrations say of the Shoot's Extensions. */
interface TargetFacts {
  readonly timestamp?: string | undefined;
  readonly extensions?: readonly ShootExtension[] | undefined;
}

/** The wait for an extension object, with the time-outs of its kind, or of its type where its registration has one. */
export function targetOf(
  object: KubeObject,
  kind: ExtensionKind,
  { timestamp, extensions = [] }: TargetFacts = {},
): WaitTarget {
  const { name, namespace } = object.metadata;
  const { severeAfter, deadline } = waitingOf(kind);
  const registered = kind === "Extension" ? extensions.find(({ type }) => type === typeOf(object)) : undefined;
  return {
    apiVersion: EXTENSIONS_API,
    kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    until: "ready",
    ...(timestamp === undefined ? {} : { timestamp }),
    severeAfter,
    deadline: registered?.deadline ?? deadline,
  };
}

/** Whether the object's controller has let go of it; it skips whatever is not a restore from then on. */
export function hasMigrated(object: ExtensionLike): boolean {
  const { lastOperation } = object.status ?? {};
  const asked = object.metadata.annotations?.[OPERATION_ANNOTATION];
  return lastOperation?.type === "Migrate" && lastOperation.state === "Succeeded" && asked === undefined;
}
