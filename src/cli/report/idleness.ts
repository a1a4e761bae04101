import type { ShootView } from "../../activities/index.ts";
import { IGNORE_ANNOTATION } from "../../api/annotations.ts";
import type { Seed, Shoot } from "../../api/index.ts";
import { placementObstacles } from "../../api/placement/choice.ts";
import { isForScheduler, SCHEDULED } from "../../api/placement/schedule.ts";
import { networkObstacles } from "../../api/placement/fit.ts";

/** What is known of a Shoot for which no operation runs. */
export interface Idle {
  readonly shoot: Shoot;
  readonly view: ShootView;
  readonly seeds: readonly Seed[];
  /** Whether its own workflow runs; undefined where Temporal could not be asked. */
  readonly hasWorkflow: boolean | undefined;
}

/** Why an operation that the Shoot waits for has not begun, and the remedy; undefined where it waits for none. */
export function explainIdleness({ shoot, view, seeds, hasWorkflow }: Idle): string | undefined {
  const { lastOperation, generation, observedGeneration, ignored, problem } = view;
  if (lastOperation !== undefined && generation === observedGeneration) return undefined;
  if (ignored) return `the Shoot is ignored: remove its annotation ${IGNORE_ANNOTATION}, and it is acted upon again`;
  if (problem !== undefined) return [problem.message, seedsFor(shoot, seeds)].filter(Boolean).join("; ");
  if (hasWorkflow === undefined)
    return "whether a workflow has taken it up is not known, since Temporal does not answer: see that Temporal runs";
  return hasWorkflow
    ? "its workflow has not begun one: Perennial's worker for the garden does, see that it runs"
    : "no workflow has taken it up: the manager begins one, see that it runs and reaches the garden and Temporal";
}

/** What the scheduler says of a Shoot without a Seed; until it does, which Seeds take it by all that is known here. */
function seedsFor(shoot: Shoot, seeds: readonly Seed[]): string | undefined {
  if ((shoot.status?.seedName ?? shoot.spec.seedName) !== undefined) return undefined;
  const said = shoot.status?.conditions?.find(({ type }) => type === SCHEDULED);
  if (said?.status === "False") return said.message;
  if (!isForScheduler(shoot))
    return `Perennial's scheduler leaves it to ${shoot.spec.schedulerName}, as spec.schedulerName says: see that this scheduler runs, or set spec.seedName`;
  if (seeds.length === 0) return "there is no Seed yet";
  const judged = seeds.map((seed) => ({
    name: seed.metadata.name,
    obstacles: [...placementObstacles({ shoot, seed }), ...networkObstacles(shoot, seed)],
  }));
  const fit = judged.filter(({ obstacles }) => obstacles.length === 0).map(({ name }) => name);
  if (fit.length > 0) return `these take it: ${fit.join(", ")}`;
  return `none takes it: ${judged.flatMap(({ obstacles }) => obstacles.map(({ message }) => message)).join("; ")}`;
}
