import type { z } from "zod";
import type { Kind } from "../schema/kind.ts";
import { minutes, seconds, type ExtensionContract, type FlowContract } from "./define-extension.ts";
import * as definitions from "./index.ts";

/** The API version of every extension kind. */
export const EXTENSIONS_API = "extensions.gardener.cloud/v1alpha1";

type Definition = (typeof definitions)[keyof typeof definitions];

/** The name of an extension kind. */
export type ExtensionKind = Definition["kind"];

type DefinitionOf<K extends ExtensionKind> = Extract<Definition, { readonly kind: K }>;

/** The type of a kind's objects. */
export type ExtensionKinds = { readonly [K in ExtensionKind]: z.infer<DefinitionOf<K>["schema"]> };

type KindsWith<Contract> = {
  [K in ExtensionKind]: DefinitionOf<K>["contract"] extends Contract ? K : never;
}[ExtensionKind];

/** A kind of which flows write objects: each has its rows in the flow tables. */
export type AppliedKind = KindsWith<{ readonly writer: "flow" }>;

/** A kind of which no object has a Cluster. */
export type ClusterlessKind = KindsWith<{ readonly cluster: "never" }>;

/** A kind of which some objects have no Cluster. */
export type SometimesClusterlessKind = KindsWith<{ readonly cluster: "sometimes" }>;

/** What tells several objects of one kind apart. */
export type Purpose = {
  [K in AppliedKind]: DefinitionOf<K>["contract"] extends { readonly purposes: readonly (infer P)[] } ? P : never;
}[AppliedKind];

/** Every extension kind, by its name. */
export const extensionKinds = Object.fromEntries(
  Object.values(definitions).map((definition) => [definition.kind, definition]),
) as { readonly [K in ExtensionKind]: DefinitionOf<K> & { readonly contract: ExtensionContract } };

/** An object of whichever extension kind. */
export type ExtensionObject = ExtensionKinds[ExtensionKind];

/** The definition of a kind that is known at run time only, as far as what all kinds have in common goes. */
export const definitionOf = (kind: ExtensionKind): Kind<ExtensionObject> => extensionKinds[kind];

/** The kinds of which flows write objects. */
export const appliedKinds = kindsWhere(({ writer }) => writer === "flow") as readonly AppliedKind[];

/** The kinds of which the ShootState keeps the state. */
export const statefulKinds = kindsWhere(({ stateful }) => stateful);

/** What a flow has to know of a kind that it writes. */
export const contractOf = (kind: AppliedKind): FlowContract => extensionKinds[kind].contract;

/** What a wait for an object of whichever kind goes by; of one that no flow writes, what upstream's gardenadm has for it. */
export function waitingOf(kind: ExtensionKind): Pick<FlowContract, "trigger" | "severeAfter" | "deadline"> {
  const { contract } = extensionKinds[kind];
  return "trigger" in contract ? contract : OTHERS;
}

const OTHERS = { trigger: "always", severeAfter: seconds(30), deadline: minutes(5) } as const;

/** Whether objects of a kind are in no namespace. */
export const isClusterScoped = (kind: ExtensionKind): boolean => extensionKinds[kind].scope === "Cluster";

function kindsWhere(holds: (contract: ExtensionContract) => boolean): readonly ExtensionKind[] {
  return Object.values(extensionKinds).flatMap(({ kind, contract }) => (holds(contract) ? [kind] : []));
}
