import { createHash } from "node:crypto";
import { MACHINE_CONTROLLER_MANAGER_ANNOTATION, RESOURCE_MANAGER_ANNOTATION } from "../annotations.ts";
import type { ControllerRegistration } from "../core/controller-registration.ts";
import type { Lifecycle } from "../extensions/lifecycle.ts";
import { secondsOf } from "../schema/duration.ts";
import type { labelSelector } from "../schema/references.ts";
import type { z } from "zod";
import type { Pair } from "./demand.ts";

/** A cluster in whose service an Extension may be. */
export type ClusterType = "shoot" | "seed" | "garden";

/** One kind and type that a registered controller handles, with the meaning of what its registration leaves out. */
export interface Offer extends Pair {
  /** It is in charge of the objects, rather than one that watches them besides. */
  readonly primary: boolean;
  readonly workerlessSupported: boolean;
  /** Clusters that have the Extension unless they refuse it. */
  readonly autoEnable: readonly ClusterType[];
  /** Clusters that may have the Extension. */
  readonly compatible: readonly ClusterType[];
  /** When its controller acts on a Shoot, as far as the registration says it. */
  readonly lifecycle?: Partial<Lifecycle>;
  /** In ms, where the registration says it. */
  readonly reconcileTimeout?: number;
}

/**
 * How a registered controller gets into a Seed: by Perennial, from a Helm chart; by an operator that knows the type; or by
 * other hands, of which the registration says nothing. A reference names a ControllerDeployment, which says which of the first two.
 */
export type Method =
  | { readonly by: "reference"; readonly name: string }
  | { readonly by: "helm" }
  | { readonly by: "operator"; readonly type: string }
  | { readonly by: "others" };

/** Whether Perennial installs it, from a chart. */
export const isByChart = ({ method: { by } }: Pick<Registered, "method">): boolean =>
  by === "helm" || by === "reference";

/** What of a ControllerRegistration decides where its controller is wanted: all but the chart itself. */
export interface Registered {
  readonly name: string;
  readonly uid: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly deleting: boolean;
  readonly offers: readonly Offer[];
  readonly policy: "OnDemand" | "Always" | "AlwaysExceptNoShoots";
  readonly seedSelector?: z.infer<typeof labelSelector>;
  readonly method: Method;
  /** Its Worker controller makes machines itself, without machine-controller-manager. */
  readonly makesMachines?: true;
  /** Its controller writes no ManagedResources. */
  readonly writesNoResources?: true;
  /** Changes with the spec, inline chart included. */
  readonly specHash: string;
}

/** Reads a registration, of today's shape or of seed 001's. */
export function registeredOf({ metadata, spec }: ControllerRegistration): Registered {
  const { policy = "OnDemand", seedSelector } = spec.deployment ?? {};
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    createdAt: metadata.creationTimestamp ?? "",
    deleting: metadata.deletionTimestamp !== undefined,
    offers: (spec.resources ?? []).map(offerOf),
    policy,
    ...(seedSelector === undefined ? {} : { seedSelector }),
    method: methodOf(spec.deployment),
    ...(metadata.annotations?.[MACHINE_CONTROLLER_MANAGER_ANNOTATION] === "false" ? { makesMachines: true } : {}),
    ...(metadata.annotations?.[RESOURCE_MANAGER_ANNOTATION] === "false" ? { writesNoResources: true } : {}),
    specHash: hashOf(spec),
  };
}

type Spec = ControllerRegistration["spec"];

function offerOf({
  kind,
  type,
  primary = true,
  workerlessSupported = false,
  autoEnable,
  globallyEnabled = false,
  clusterCompatibility = ["shoot"],
  lifecycle,
  reconcileTimeout,
}: NonNullable<Spec["resources"]>[number]): Offer {
  const automatic = autoEnable ?? (globallyEnabled ? ["shoot"] : []);
  return {
    ...{ kind, type, primary, workerlessSupported, autoEnable: automatic, compatible: clusterCompatibility },
    ...(lifecycle === undefined ? {} : { lifecycle: given(lifecycle) }),
    ...(reconcileTimeout === undefined ? {} : { reconcileTimeout: 1_000 * secondsOf(reconcileTimeout) }),
  };
}

/** What of the lifecycle is said. */
const given = ({ reconcile, delete: deletion, migrate }: Said): Partial<Lifecycle> => ({
  ...(reconcile === undefined ? {} : { reconcile }),
  ...(deletion === undefined ? {} : { delete: deletion }),
  ...(migrate === undefined ? {} : { migrate }),
});

type Said = NonNullable<NonNullable<Spec["resources"]>[number]["lifecycle"]>;

function methodOf(deployment: Spec["deployment"]): Method {
  const [reference] = deployment?.deploymentRefs ?? [];
  if (reference !== undefined) return { by: "reference", name: reference.name };
  const type = deployment?.type;
  if (type === undefined) return { by: "others" };
  return type === "helm" ? { by: "helm" } : { by: "operator", type };
}

/** Tells contents apart, in 16 digits; the order of fields does not count. */
export const hashOf = (content: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(sorted(content)) ?? "")
    .digest("hex")
    .slice(0, 16);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** A name as a label's value, which has 63 characters: its hash where it is longer. */
export const asLabel = (name: string): string => (name.length <= 63 ? name : hashOf(name));
