import type { z } from "zod";
import { DELETION_PROTECTED_LABEL } from "../labels.ts";
import type { Seed } from "../core/seed.ts";
import type { ExtensionPhase, Phased, ShootExtension } from "./lifecycle.ts";
import { defineResource, type Column } from "../schema/resource.ts";
import type { Shoot } from "../shoot/shoot.ts";

/** Where an object's `spec.type` comes from: the Shoot, and the Seed that leads it. */
export interface TypeSource {
  readonly shoot: Pick<Shoot, "spec">;
  readonly seed: Pick<Seed, "spec"> | undefined;
}

/** What names a Shoot's objects in a seed. */
export interface ShootIdentity {
  /** The Shoot's own name. */
  readonly name: string;
  readonly technicalID: string;
  readonly uid: string;
}

/** What Perennial and extension controllers have to know of a kind besides its fields (contract C1). */
export interface ExtensionContract {
  /** Who writes its objects: the flows of a Shoot, the worker of a Seed, or a part that Perennial does not have. */
  readonly writer: "flow" | "seed" | "other";
  /** Whether the ShootState keeps `status.state` and `status.resources`, and Restore gives them back. */
  readonly stateful: boolean;
  /** Whether an object's namespace has a Cluster: always, only for objects of class `shoot`, or never. */
  readonly cluster: "always" | "sometimes" | "never";
  /** Of which Shoots admission asks that a ControllerRegistration is in charge of the types that they need. */
  readonly admission: "always" | "workers" | "none";
  /** The values of `spec.type` that a Shoot on this Seed asks for; of one purpose, where the kind has several. */
  types(source: TypeSource, purpose?: string): readonly string[];
}

/** What a flow has to know of a kind that it writes. Durations are ms. */
export interface FlowContract extends ExtensionContract {
  readonly writer: "flow";
  /** What tells a Shoot's objects of this kind apart, where it has one for each purpose. */
  readonly purposes?: readonly string[];
  /** The purpose under which an operation acts on the object of a type, where its name does not say it. */
  readonly purposeAt?: (
    extensions: readonly ShootExtension[] | undefined,
    type: string,
    operation: Phased,
  ) => ExtensionPhase;
  /** The name of the Shoot's object; absent where the Shoot has several that its spec names. */
  readonly nameOf?: (shoot: ShootIdentity, purpose?: string) => string;
  /** An error that the controller has reported for longer than this fails the step (upstream's severe threshold). */
  readonly severeAfter: number;
  /** What the controller has for one operation (upstream's time-out). */
  readonly deadline: number;
  /**
   * When a flow asks the controller to act: in every operation, or only where the Shoot asked for it, the spec changed, or
   * the last operation did not succeed (C1.2: kinds that cost calls at a provider).
   */
  readonly trigger: "always" | "onChange";
}

/** Seconds and minutes in ms, for time-outs. */
export const seconds = (count: number): number => count * 1_000;
/** Minutes in ms, for time-outs. */
export const minutes = (count: number): number => seconds(60) * count;

/** The provider of the Shoot's infrastructure, as the type of what the provider builds. */
export const providerType = ({ shoot }: TypeSource): readonly string[] => [shoot.spec.provider.type];

interface ExtensionDefinition<Kind, Scope, Content, Contract> {
  readonly kind: Kind;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly scope: Scope;
  readonly description: string;
  readonly content: Content;
  readonly columns: readonly Column[];
  /** Whether deletions need a confirmation; upstream spares two kinds. */
  readonly deletionProtected?: false;
  readonly contract: Contract;
}

/** A kind of `extensions.gardener.cloud/v1alpha1`: its fields, and its place in the life of a Shoot. */
export function defineExtension<
  const Kind extends string,
  const Scope extends "Namespaced" | "Cluster",
  Content extends z.ZodRawShape,
  const Contract extends ExtensionContract | FlowContract,
>({ contract, deletionProtected, ...definition }: ExtensionDefinition<Kind, Scope, Content, Contract>) {
  const labels = deletionProtected === false ? {} : { labels: { [DELETION_PROTECTED_LABEL]: "true" } };
  const resource = defineResource({
    group: "extensions.gardener.cloud",
    version: "v1alpha1",
    ...definition,
    ...labels,
  });
  return { ...resource, contract };
}
