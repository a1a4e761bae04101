import { Bastion } from "../../api/extensions/bastion.ts";
import type { Shoot } from "../../api/index.ts";
import { migrationObstacles, type MigrationFacts } from "../../api/placement/migration.ts";
import type { Obstacle } from "../../api/placement/fit.ts";
import { describeHeartbeat, describeNeedlessness, isSeedReady } from "../../api/placement/fit.ts";
import { moveOf, neededSource, type Move } from "../../api/placement/move.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { describeReliance } from "../../api/placement/takeover.ts";
import { planFlow, type PlannedStep } from "../../flow/plan.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { ShootFlow } from "../../workflows/actions.ts";
import { noteOnMove } from "../report/kubeconfig.ts";
import { describeDowntime } from "./downtime.ts";
import { formatDuration } from "../display/time.ts";

/** What a move would be: printed by `shoot migrate --plan`, and asked about before the move itself. */
export interface MigrationPlan {
  readonly shoot: string;
  readonly from: string;
  readonly to: string;
  readonly takeover: boolean;
  /** Why the Shoot cannot move; empty when it can. */
  readonly obstacles: readonly Obstacle[];
  /** What the operator should know before deciding, as sentences. */
  readonly notes: readonly string[];
  readonly flows: readonly { readonly title: string; readonly steps: readonly PlannedStep[] }[];
}

/** The flows that a move consists of. */
export interface MoveTables {
  readonly migrate: ShootFlow;
  readonly restore: ShootFlow;
  readonly cleanUp: ShootFlow;
}

/** What a plan is made from; `run` are the facts of the Shoot where it is, `bastions` what the old seed says, if it was asked. */
export interface PlanInput {
  readonly facts: MigrationFacts;
  readonly run: Omit<ShootRun, "operation">;
  readonly tables: MoveTables;
  readonly takeover?: { readonly sourceIsOff: boolean } | undefined;
  readonly bastions?: readonly string[] | undefined;
}

/** The Seed that a move to this Seed leaves: the leader, or the old Seed of the move that goes there already. */
export function movesFrom(move: Move, to: string): string | undefined {
  return sourceOnTheWay(move, to) ?? move.leader;
}

/** The Seed that the move under way still needs, where that move goes to the same Seed. */
function sourceOnTheWay(move: Move, to: string): string | undefined {
  switch (move.is) {
    case "leaving":
    case "arriving":
      return move.destination === to ? neededSource(move) : undefined;
    case "settled":
    case "returning":
      return undefined;
  }
}

/** Plans a move and everything that stands against it; asks no question and writes nothing. */
export function planMigration({ facts, run, tables, takeover: approval, bastions = [] }: PlanInput): MigrationPlan {
  const { shoot, to } = facts;
  const move = moveOf(shoot);
  const from = movesFrom(move, to) ?? "";
  const takeover = approval !== undefined;
  const underway = takeover && sourceOnTheWay(move, to) !== undefined;
  const migration = { source: from, destination: to, takeover };
  const going: ShootRun = { ...run, operation: "Migrate", namespaceUsable: true, seedName: from, migration };
  const arriving: ShootRun = { ...going, operation: "Restore", seedName: to, epoch: run.epoch + 1 };
  const flows = [
    { flow: tables.migrate, run: going },
    { flow: tables.restore, run: arriving },
    { flow: tables.cleanUp, run: { ...arriving, seedName: from } },
  ];
  return {
    shoot: subjectOf(shoot),
    from,
    to,
    takeover,
    obstacles: [...migrationObstacles({ ...facts, takeover, underway }), ...bastions.map(leftBehind)],
    notes: approval ? takeoverNotes(facts, move, from, approval.sourceIsOff) : moveNotes(facts, from, run),
    flows: flows.map(({ flow, run }) => ({ title: flow.title, steps: planFlow(flow, run) })),
  };
}

const subjectOf = ({ metadata }: Shoot): string => `${metadata.namespace}/${metadata.name}`;

/** Names of the Bastions in the Shoot's namespace of a seed. */
export async function readBastions(seedClient: KubeClient, { status }: Shoot): Promise<string[]> {
  const found = await seedClient.list(Bastion, { namespace: status?.technicalID ?? "" });
  return found.map(({ metadata }) => metadata.name);
}

const leftBehind = (name: string): Obstacle => ({
  field: "status.seedName",
  message: `Bastion ${name} would be left behind in the old Seed: delete it first`,
});

function takeoverNotes(facts: MigrationFacts, move: Move, from: string, sourceIsOff: boolean): string[] {
  const { shoot, to, source, now, kept } = facts;
  const age =
    kept?.takenAt === undefined ? "" : `, taken ${formatDuration(now.getTime() - Date.parse(kept.takenAt))} ago`;
  return [
    describeReliance(from, sourceIsOff),
    `The Shoot's etcd goes back to its last recorded snapshot${age}, or to a newer one, if the old Seed has left a good one in its bucket: what was written since is lost.`,
    ...abandonmentNotes(shoot, move, to),
    ...(kept?.problem === undefined ? [] : [`What extensions keep is not the latest there was: ${kept.problem}`]),
    ...(source && isSeedReady(source, now) ? [describeNeedlessness(source, now)] : []),
    noteOnMove(subjectOf(shoot)),
  ];
}

/** What becomes of a Restore whose Seed has died in the middle of it, when the Shoot goes to another Seed. */
function abandonmentNotes(shoot: Shoot, move: Move, to: string): string[] {
  switch (move.is) {
    case "settled":
    case "leaving":
      return [];
    case "arriving":
    case "returning":
      return move.leader === to ? [] : [describeAbandonment(shoot, move.leader)];
  }
}

function describeAbandonment({ status }: Shoot, from: string): string {
  const before = status?.leadership?.previousSeed;
  const elsewhere =
    before === undefined
      ? ""
      : ` Nothing is taken from Seed ${before} any more: its own fence stops the API server there, should it still serve, and what it wrote since that snapshot is lost, too.`;
  return `Restore on Seed ${from} is given up.${elsewhere}`;
}

function moveNotes(
  { shoot, source, now, kept }: MigrationFacts,
  from: string,
  run: Omit<ShootRun, "operation">,
): string[] {
  const preparation = formatDuration((run.dnsTtl + 2 * run.leaseSeconds) * 1000);
  const silence = `Seed ${from} is not ready (${source ? describeHeartbeat(source, now) : "there is no such Seed"}): the move would wait for it; --force-takeover does without it.`;
  const cancellation = "Until the new Seed leads, --cancel calls the Shoot back.";
  const cost = run.hibernated
    ? [
        `The Shoot sleeps while it moves, so that nothing stops serving. It takes at least ${preparation}, while addresses and leases run out. ${cancellation}`,
      ]
    : [
        describeDowntime(kept?.size),
        `Before that it goes on serving for at least ${preparation}, while addresses and leases run out. ${cancellation}`,
      ];
  return [...cost, noteOnMove(subjectOf(shoot)), ...(source && isSeedReady(source, now) ? [] : [silence])];
}
