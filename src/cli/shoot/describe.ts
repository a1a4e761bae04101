import { Seed, type Shoot } from "../../api/index.ts";
import type { FlowProgress } from "../../api/shoot/run.ts";
import { unlessForbidden } from "../../kube/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import type { ShootClient } from "../../client/shoots.ts";
import { blockingFromStatus, findBlocking } from "../report/blocking.ts";
import { reportCleanUp, type CleanUpReport } from "../report/clean-ups.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import type { ClusterOptions, Context, Garden } from "../context.ts";
import { explainFully } from "../exit.ts";
import { findShoot, namespaceOption, shootArgument, shootRef } from "../find-shoot.ts";
import { choice } from "../option.ts";
import { printObject } from "../display/output.ts";
import { describeShoot, leftoversOf, renderDescription, type ShootDescription } from "../report/description.ts";
import { phaseOf } from "../report/phase.ts";
import { describeAiling } from "../report/ailing.ts";
import { findAction, readView } from "../report/flow-tables.ts";
import { explainIdleness } from "../report/idleness.ts";
import { findOwner, readReport, type ObjectReport, type StepOwner } from "../report/step-owner.ts";
import type { Action } from "../../workflows/actions.ts";
import { placeOf } from "../report/step-place.ts";

/** `perennial shoot describe` */
export const describe = defineCommand({
  name: "describe",
  summary: "Show a Shoot, and the one step that its operation waits for: its owner, and since when",
  args: { shoot: shootArgument },
  options: { namespace: namespaceOption, output: choice(["json", "yaml"], "Output", "o"), ...clusterOptions },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    const description = await gather(context, garden, shoot, options);
    const { out } = context.terminal;
    if (options.output) printObject(out, description, options.output);
    else out.write(renderDescription(out, description, context.now()));
  },
});

/** What the Shoot, its flow, the garden and, where it can be reached, the seed say; no silence of one hides the others. */
async function gather(
  context: Context,
  garden: Garden,
  shoot: Shoot,
  options: ClusterOptions,
): Promise<ShootDescription> {
  const { hasWorkflow, ...answer } = await askFlow(context, shoot, options);
  const { progress } = answer;
  const current = progress !== undefined && phaseOf(shoot) !== "ready";
  const blocking = (current ? findBlocking(progress) : undefined) ?? blockingFromStatus(shoot);
  const known = { ...describeShoot(shoot), ...answer, ailing: describeAiling(await context.processes(garden)) };
  if (!blocking)
    return { ...known, blocking, ...(isIdle(shoot, progress) && { idle: await whyIdle(garden, shoot, hasWorkflow) }) };
  const action = await findAction(current ? progress.operation : shoot.status?.lastOperation?.type, blocking.step);
  const owner = await findOwner(garden.client, action, shoot);
  const report = await askSeed(context, options, { owner, action, shoot });
  return { ...known, blocking: { ...blocking, ...owner, ...(report && { report }) } };
}

/** The Shoot waits for an operation, and none runs. */
const isIdle = (shoot: Shoot, progress: FlowProgress | undefined): boolean =>
  phaseOf(shoot) !== "ready" && (progress === undefined || progress.finishedAt !== undefined);

/** Undefined also where the operator may not read what it depends on. */
async function whyIdle(garden: Garden, shoot: Shoot, hasWorkflow: boolean | undefined): Promise<string | undefined> {
  try {
    const [view, seeds] = await Promise.all([readView(garden, shoot), garden.client.list(Seed)]);
    return explainIdleness({ shoot, view, seeds, hasWorkflow });
  } catch (error) {
    return unlessForbidden(error);
  }
}

/** What the object behind the step says, where its seed can be reached. */
async function askSeed(
  context: Context,
  options: ClusterOptions,
  { owner, action, shoot }: { owner: StepOwner; action: Action | undefined; shoot: Shoot },
): Promise<ObjectReport | undefined> {
  const place = placeOf(action, shoot);
  const seedClient = place.in === "seed" ? await context.seed(place.seed ?? "", options) : undefined;
  return seedClient && (await readReport(seedClient, owner, shoot.status?.technicalID ?? "").catch(() => undefined));
}

async function askFlow(
  context: Context,
  shoot: Shoot,
  options: ClusterOptions,
): Promise<Pick<ShootDescription, "progress" | "cleanUps" | "unanswered"> & { hasWorkflow?: boolean }> {
  try {
    const flows = await context.flows(options);
    const ref = shootRef(shoot);
    const [progress, cleanUps] = await Promise.all([flows.progress(ref), askCleanUps(flows, shoot)]);
    const known = { progress, cleanUps, unanswered: undefined };
    if (!isIdle(shoot, progress)) return known;
    return { ...known, hasWorkflow: (await flows.withoutWorkflow([ref])).length === 0 };
  } catch (error) {
    return { progress: undefined, cleanUps: [], unanswered: explainFully(error) };
  }
}

/** One for each seed that still holds something of the Shoot; while it moves, the seed that it leaves is not left yet. */
async function askCleanUps(flows: ShootClient, shoot: Shoot): Promise<CleanUpReport[]> {
  const { cleanUpWorkflowId } = await import("../../workflows/contract.ts");
  const moving = moveOf(shoot).is !== "settled";
  return Promise.all(
    leftoversOf(shoot).map(async (seed) => {
      const workflow = cleanUpWorkflowId(shootRef(shoot), seed);
      return reportCleanUp({ seed, workflow }, await flows.progressOf(workflow), moving);
    }),
  );
}
