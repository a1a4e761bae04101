import type { z } from "zod";
import { counted } from "../counted.ts";
import type { CloudProfile } from "../core/cloud-profile.ts";
import { taintObstacles, type Obstacle } from "./fit.ts";
import { holds } from "../schema/label-selector.ts";
import type { seedSelector } from "../core/seed-selector.ts";
import type { Seed } from "../core/seed.ts";
import type { Shoot } from "../shoot/shoot.ts";

/** A Shoot that is to run on a Seed. */
export interface Placement {
  readonly shoot: Pick<Shoot, "spec">;
  readonly seed: Seed;
  /** The Shoot's CloudProfile; its selector counts where it is known. */
  readonly profile?: CloudProfile | undefined;
  /** How many other Shoots the Seed has; undefined where the caller cannot list them. */
  readonly neighbours?: number | undefined;
}

/** Why the Seed does not take the Shoot: what Gardener's scheduler and its admission ask of a Seed, but for networks. */
export function placementObstacles({ shoot, seed, profile, neighbours }: Placement): Obstacle[] {
  return [
    ...taintObstacles(shoot, seed),
    ...restrictionObstacles(shoot, seed),
    ...selectorObstacles(shoot, seed, profile),
    ...capacityObstacles(seed, neighbours),
  ];
}

/** Of a Shoot, where it is and where it is to be. */
interface Placed {
  readonly metadata: { readonly uid?: string | undefined };
  readonly spec: { readonly seedName?: string | undefined };
  readonly status?: { readonly seedName?: string | undefined } | undefined;
}

/** How many Shoots are on a Seed, or on their way to or from it; the one with this uid is left out. */
export function countNeighbours(shoots: readonly Placed[], seed: string, uid: string | undefined): number {
  return shoots.filter((shoot) => isOnSeed(shoot, seed) && shoot.metadata.uid !== uid).length;
}

/** Whether a Shoot is on a Seed, or on its way to or from it. */
export const isOnSeed = ({ spec, status }: Pick<Placed, "spec" | "status">, seed: string): boolean =>
  spec.seedName === seed || status?.seedName === seed;

/** How many Shoots a Seed takes; undefined when it does not say. */
export function shootCapacity({ status }: Seed): number | undefined {
  const [, digits, thousands] = /^(\d+)(k?)$/.exec(String(status?.allocatable?.["shoots"] ?? "")) ?? [];
  return digits === undefined ? undefined : Number(digits) * (thousands === "k" ? 1000 : 1);
}

function capacityObstacles(seed: Seed, neighbours: number | undefined): Obstacle[] {
  const capacity = shootCapacity(seed);
  if (capacity === undefined || neighbours === undefined || neighbours < capacity) return [];
  const message = `Seed ${seed.metadata.name} takes ${counted(capacity, "Shoot")} (status.allocatable) and has ${neighbours}: choose another Seed`;
  return [{ field: "spec.seedName", message, transient: true }];
}

function restrictionObstacles({ spec }: Pick<Shoot, "spec">, { metadata, spec: { accessRestrictions = [] } }: Seed) {
  const missing = (spec.accessRestrictions ?? []).filter(
    ({ name }) => !accessRestrictions.some((offered) => offered.name === name),
  );
  return missing.map(({ name }) => ({
    field: "spec.accessRestrictions",
    message: `Seed ${metadata.name} does not offer access restriction ${name}: choose another Seed`,
  }));
}

type Selector = z.infer<typeof seedSelector>;

/** Why the selectors of the Shoot and of its CloudProfile leave the Seed out. */
export function selectorObstacles(
  { spec }: Pick<Shoot, "spec">,
  seed: Seed,
  profile: CloudProfile | undefined,
): Obstacle[] {
  const { name } = seed.metadata;
  const own = mismatches(spec.seedSelector, seed).map(({ part, wants }) => ({
    field: `spec.seedSelector${part}`,
    message: `asks for ${wants}, which Seed ${name} does not have: choose another Seed or change the selector`,
  }));
  const offered = mismatches(profile?.spec.seedSelector, seed).map(({ part, wants }) => ({
    field: "spec.seedName",
    message: `CloudProfile ${profile?.metadata.name} asks for ${wants} (spec.seedSelector${part}), which Seed ${name} does not have: choose another Seed`,
  }));
  return [...own, ...offered];
}

/** What a selector looks at in a Seed. */
export interface SelectedSeed {
  readonly metadata: Pick<Seed["metadata"], "labels">;
  readonly spec: { readonly provider: Pick<Seed["spec"]["provider"], "type"> };
}

/** Whether a selector, if there is one, takes the Seed. */
export const selects = (selector: Selector | undefined, seed: SelectedSeed): boolean =>
  mismatches(selector, seed).length === 0;

/** Which parts of a selector the Seed does not fulfil, and what they ask for. */
function mismatches(selector: Selector | undefined, seed: SelectedSeed): { part: string; wants: string }[] {
  const { matchLabels = {}, matchExpressions = [], providerTypes = [] } = selector ?? {};
  const labels = seed.metadata.labels ?? {};
  const { type } = seed.spec.provider;
  const provided = providerTypes.length === 0 || providerTypes.includes(type) || providerTypes.includes("*");
  return [
    ...Object.entries(matchLabels)
      .filter(([key, value]) => labels[key] !== value)
      .map(([key, value]) => ({ part: ".matchLabels", wants: `label ${key}=${value}` })),
    ...matchExpressions
      .filter((expression) => !holds(expression, labels[expression.key]))
      .map((expression) => ({ part: ".matchExpressions", wants: inWords(expression) })),
    ...(provided ? [] : [{ part: ".providerTypes", wants: `a provider of type ${providerTypes.join(" or ")}` }]),
  ];
}

type Expression = NonNullable<Selector["matchExpressions"]>[number];

function inWords({ key, operator, values = [] }: Expression): string {
  if (operator === "Exists") return `label ${key}`;
  if (operator === "DoesNotExist") return `no label ${key}`;
  return `label ${key} ${operator} (${values.join(", ")})`;
}
