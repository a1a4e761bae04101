import { createHash } from "node:crypto";
import { cleanUp } from "../../src/workflows/clean-up.ts";
import {
  fallsAsleep,
  hasContainerRuntimes,
  hasExtensionsAfterApiServer,
  hasExtensionsAfterWorker,
  hasExtensionsBeforeApiServer,
  hasReferences,
  hasTunnel,
  managesMachines,
  managesResources,
  unasked,
  takenOver,
} from "../../src/workflows/conditions.ts";
import { migrate } from "../../src/workflows/migrate.ts";
import { restore } from "../../src/workflows/restore.ts";
import { ownParts, type Blow, type FlowName, type Part } from "./blow.ts";

/** Which of all blows are wanted. */
export interface Choice {
  readonly parts: readonly Part[];
  readonly flows: readonly FlowName[];
  /** Only these steps, or all when there are none. */
  readonly steps: readonly string[];
  /** Only so many, spread over all; all when undefined. */
  readonly sample?: number;
  /** Only one of several equal shares of them, counted from 1. */
  readonly share: { readonly which: number; readonly of: number };
  /** Decides how long after the beginning of a step the blow falls. */
  readonly seed: number;
  /** In ms: how long servers stay away; our own processes are started again at once. */
  readonly away: number;
}

/** Longest time, in ms, between the beginning of a step and the blow. */
const LATEST = 150;

/** Every chosen step of a migration with every chosen process, in the order of the flows; throws for a step that is in none. */
export function chooseBlows({ parts, flows, steps, sample, share, seed, away }: Choice): Blow[] {
  const unknown = steps.filter((step) => !flows.some((flow) => tables[flow].steps.has(step)));
  if (unknown.length > 0) throw new Error(`there is no step ${unknown.join(", ")} in ${flows.join(", ")}`);
  const all = flows.flatMap((flow) =>
    [...tables[flow].steps]
      .filter(([step, { when = [] }]) =>
        steps.length === 0 ? !when.some((condition) => never.has(condition)) : steps.includes(step),
      )
      .map(([step]) => step)
      .flatMap((step) =>
        parts.map((part): Blow => {
          const delay = delayOf(`${seed} ${flow} ${step} ${part}`);
          return { flow, step, part, delay, away: own.has(part) ? 0 : away };
        }),
      ),
  );
  return sampleOf(all, sample ?? all.length).filter((_, index) => index % share.of === share.which - 1);
}

function sampleOf(all: readonly Blow[], count: number): Blow[] {
  if (count >= all.length) return [...all];
  return Array.from({ length: count }, (_, index) => all[Math.floor(((index + 0.5) * all.length) / count)]).filter(
    (blow) => blow !== undefined,
  );
}

/** What holds for no Shoot of a lab: steps that ask for it are not reached. */
const never: ReadonlySet<unknown> = new Set([
  ...[fallsAsleep, takenOver, managesMachines, managesResources, hasReferences, hasContainerRuntimes, hasTunnel],
  unasked,
  ...[hasExtensionsBeforeApiServer, hasExtensionsAfterApiServer, hasExtensionsAfterWorker],
]);

const own: ReadonlySet<Part> = new Set(ownParts);

const tables = { migrate, restore, "clean-up": cleanUp } as const;

/** A third of the blows falls at once, the others at any time. */
function delayOf(text: string): number {
  const [first = 0, second = 0] = createHash("sha256").update(text).digest();
  return first % 3 === 0 ? 0 : Math.round((second / 255) * LATEST);
}
