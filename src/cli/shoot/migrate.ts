import { CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION } from "../../api/annotations.ts";
import { Shoot } from "../../api/index.ts";
import { describeMove, moveOf } from "../../api/placement/move.ts";
import { refTo, type MergePatch } from "../../kube/index.ts";
import { defineCommand } from "../command.ts";
import { confirm } from "../confirm.ts";
import { clusterOptions } from "../connection.ts";
import type { ClusterOptions, Context, Garden } from "../context.ts";
import { CliError } from "../exit.ts";
import { findShoot, namespaceOption, shootArgument } from "../find-shoot.ts";
import { moveTables, readView } from "../report/flow-tables.ts";
import { watchOptions } from "../watching.ts";
import { followShoot } from "../display/follow.ts";
import { movesFrom, planMigration, readBastions, type MigrationPlan } from "../migration/plan.ts";
import { renderMigration, renderSummary } from "../migration/report.ts";
import { readMoveRequest, type MoveRequest } from "../migration/request.ts";
import { choice, flag, text } from "../option.ts";
import { printObject } from "../display/output.ts";
import { factsOf } from "../report/plan.ts";

/** `perennial shoot migrate` */
export const migrate = defineCommand({
  name: "migrate",
  summary: "Move a Shoot's control plane to another Seed, or call it back",
  description:
    "Changes spec.seedName, as kubectl would. Until the new Seed leads, --cancel brings the Shoot back to the old one; " +
    "after that there is only forward. --force-takeover approves that the old Seed is not asked for anything, because it " +
    "is dead or cannot be reached: who approved it and why is recorded, and what etcd wrote since its last snapshot is lost.",
  examples: [
    "perennial shoot migrate garden-dev/local --to seed-2 --plan",
    "perennial shoot migrate garden-dev/local --to seed-2 --watch",
    "perennial shoot migrate garden-dev/local --cancel",
    'perennial shoot migrate garden-dev/local --to seed-2 --force-takeover --reason "seed-1 burnt down" --source-is-off',
  ],
  args: { shoot: shootArgument },
  options: {
    namespace: namespaceOption,
    to: text("seed", "The Seed to go to"),
    plan: flag("Show what would happen, step by step, and what stands against it; changes nothing"),
    output: choice(["json", "yaml"], "With --plan: output", "o"),
    cancel: flag("Call the Shoot back to the Seed that it is about to leave"),
    forceTakeover: flag("Do without the old Seed, which does not answer; needs --reason"),
    reason: text("text", "With --force-takeover: why"),
    sourceIsOff: flag("With --force-takeover: the old Seed is known to be off; nothing relies on its own fence"),
    yes: flag("Do not ask for confirmation", "y"),
    ...watchOptions,
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const query = { shoot: args.shoot, namespace: options.namespace, exactly: !options.plan };
    const shoot = await findShoot(garden, query);
    const request = readMoveRequest(options, shoot);
    if (options.plan && request.do === "move") {
      const plan = await gatherPlan({ context, garden, shoot, options }, request);
      const { out } = context.terminal;
      if (options.output) printObject(out, plan, options.output);
      else out.write(renderMigration(out, plan));
      return plan.obstacles.length === 0 ? "done" : "failed";
    }
    const flows = options.watch ? await context.flows(options) : undefined;
    const changed = await carryOut({ context, garden, shoot, options }, request);
    if (flows) return followShoot(context, { garden, flows, shoot: changed, timeout: options.timeout });
    return undefined;
  },
});

interface Call {
  readonly context: Context;
  readonly garden: Garden;
  readonly shoot: Shoot;
  readonly options: ClusterOptions & { readonly yes: boolean };
}

type MoveToSeed = Extract<MoveRequest, { do: "move" }>;

/** What the garden says, and the old seed where it can be reached; its silence stands against nothing. */
async function gatherPlan({ context, garden, shoot, options }: Call, request: MoveToSeed): Promise<MigrationPlan> {
  const from = movesFrom(moveOf(shoot), request.to);
  const { readMigrationFacts } = await import("../../activities/shoot/migration-facts.ts");
  const [facts, view, seedClient] = await Promise.all([
    readMigrationFacts(garden.client, shoot, { from, to: request.to }, { now: new Date(context.now()) }),
    readView(garden, shoot),
    request.takeover || from === undefined ? undefined : context.seed(from, options),
  ]);
  const bastions = seedClient && (await readBastions(seedClient, shoot).catch(() => []));
  const run = factsOf(view, subjectOf(shoot));
  return planMigration({ facts, run, tables: moveTables, takeover: request.takeover, bastions });
}

async function carryOut(call: Call, request: MoveRequest): Promise<Shoot> {
  return request.do === "cancel" ? callBack(call) : move(call, request);
}

async function move(call: Call, request: MoveToSeed): Promise<Shoot> {
  const { context, shoot, options } = call;
  const plan = await gatherPlan(call, request);
  const { err, out } = context.terminal;
  if (plan.obstacles.length > 0) {
    const reasons = plan.obstacles.map(({ field, message }) => `${field}: ${message}`).join("; ");
    throw new CliError("failed", `Shoot ${plan.shoot} cannot move to Seed ${plan.to}: ${reasons}`);
  }
  err.write(`${renderSummary(err, plan)}\n`);
  if (!options.yes)
    await confirm(context.terminal, {
      doing: `moving Shoot ${plan.shoot}`,
      words: [shoot.metadata.name, plan.shoot],
      otherwise: `Shoot ${plan.shoot} stays on Seed ${plan.from}`,
    });
  const { takeover } = request;
  const approval = takeover && {
    annotations: {
      [FORCE_TAKEOVER_ANNOTATION]: JSON.stringify({
        reason: takeover.reason,
        ...(takeover.sourceIsOff && { sourceIsOff: true }),
      }),
    },
  };
  const changed = await patch(call, { metadata: { ...approval }, spec: { seedName: request.to } });
  const verb = takeover ? "takeover" : "migration";
  out.write(`${verb} of Shoot ${subjectOf(shoot)} to Seed ${request.to} asked for\n`);
  return changed;
}

async function callBack(call: Call): Promise<Shoot> {
  const { context, shoot } = call;
  const subject = subjectOf(shoot);
  const move = moveOf(shoot);
  if (move.is !== "leaving")
    throw new CliError("failed", `Shoot ${subject} cannot be called back: ${describeMove(shoot.metadata, move)}`);
  const { source: seedName } = move;
  const annotations = { [CANCEL_MIGRATION_ANNOTATION]: "true" };
  const changed = await patch(call, { metadata: { annotations }, spec: { seedName } });
  context.terminal.out.write(`Shoot ${subject} called back to Seed ${seedName}\n`);
  return changed;
}

/** The uid keeps a later Shoot of the same name from being moved. */
function patch({ garden, shoot }: Call, change: MergePatch & { readonly metadata: object }): Promise<Shoot> {
  const { namespace, name, uid } = shoot.metadata;
  return garden.client.patch(refTo(Shoot, { namespace, name }), { ...change, metadata: { ...change.metadata, uid } });
}

function subjectOf({ metadata }: Shoot): string {
  return `${metadata.namespace}/${metadata.name}`;
}
