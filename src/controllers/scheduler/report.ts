import { counted } from "../../api/counted.ts";
import { Shoot, type Condition } from "../../api/index.ts";
import { SCHEDULED } from "../../api/placement/schedule.ts";
import { isConflict, now as timeNow, refOf, type EventRecorder, type KubeClient } from "../../kube/index.ts";

/** What became of the search for a Seed. */
export type Outcome = { readonly seed: string } | { readonly why: string };

/** Where outcomes are told. */
export interface ReportDeps {
  readonly gardenClient: KubeClient;
  readonly events: Pick<EventRecorder, "record">;
}

/**
 * Tells the Shoot's users: by condition {@link SCHEDULED}, which is written only when it says something else than before, and by
 * an Event, with upstream's reasons. What others write meanwhile stays, and is read again: a Shoot that has its Seed is not
 * looked at a second time.
 */
export async function reportOutcome(deps: ReportDeps, shoot: Shoot, outcome: Outcome): Promise<void> {
  const { name, namespace } = shoot.metadata;
  let current: Shoot | undefined = shoot;
  for (let tries = 1; current !== undefined; tries += 1) {
    try {
      return await report(deps, current, outcome);
    } catch (error) {
      if (!isConflict(error) || tries === MOST_TRIES) throw error;
      current = await deps.gardenClient.read(Shoot, { name, namespace });
    }
  }
}

const MOST_TRIES = 5;

async function report({ gardenClient, events }: ReportDeps, shoot: Shoot, outcome: Outcome): Promise<void> {
  const before = shoot.status?.conditions ?? [];
  const next = conditionOf(
    outcome,
    before.find(({ type }) => type === SCHEDULED),
  );
  if (next === undefined) return;
  const reason = "seed" in outcome ? "SchedulingSuccessful" : "SchedulingFailed";
  const type = "seed" in outcome ? "Normal" : "Warning";
  const { resourceVersion } = shoot.metadata; // conditions of others that have come meanwhile are a conflict, and stay
  const conditions = [...before.filter((one) => one.type !== SCHEDULED), next];
  await gardenClient.patch(
    refOf(shoot),
    { metadata: { resourceVersion }, status: { conditions } },
    { subresource: "status" },
  );
  events.record({ regarding: shoot, type, reason, action: "Schedule", note: next.message });
}

/** The next condition; undefined where it would say the same. */
export function conditionOf(outcome: Outcome, before: Condition | undefined, now = timeNow()): Condition | undefined {
  const next =
    "seed" in outcome
      ? { status: "True" as const, reason: "SeedChosen", message: `The scheduler has chosen Seed ${outcome.seed}.` }
      : { status: "False" as const, reason: "NoSeed", message: outcome.why };
  if (before?.status === next.status && before.message === next.message) return undefined;
  const lastTransitionTime = before?.status === next.status ? before.lastTransitionTime : now;
  return { type: SCHEDULED, ...next, lastTransitionTime, lastUpdateTime: now };
}

/** Seed by seed, why none takes the Shoot; a garden may have hundreds. */
export function describeRefusals(refusals: readonly string[]): string {
  if (refusals.length === 0) return "There is no Seed yet.";
  const rest = refusals.length - mostNamed;
  const more = rest > 0 ? `; and ${rest} more` : "";
  return `None of ${counted(refusals.length, "Seed")} takes the Shoot: ${refusals.slice(0, mostNamed).join("; ")}${more}`;
}

const mostNamed = 20;
