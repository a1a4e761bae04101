import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startLab, type Lab } from "./lab.ts";
import { createLabShoot, type LabShoot } from "./shoots.ts";
import { back, keepEvidence, there, tryMigration, type Blow, type Outcome, type Route } from "./trial.ts";
import type { World } from "./world.ts";

/** What a shard is told on its standard input. */
export interface Order {
  readonly blows: readonly Blow[];
  /** Directory for what helps to understand migrations that went wrong; none is kept when empty. */
  readonly evidence: string;
}

/** A line of a shard's standard output, as JSON; without a blow, nobody was killed. */
export interface Report extends Pick<Outcome, "faults" | "took" | "fallen"> {
  readonly blow?: Blow;
}

/** Works off the blows of one order in a lab of its own. */
await main(JSON.parse(await text(process.stdin)) as Order);

async function main(order: Order): Promise<void> {
  const lab = await startLab();
  try {
    await workOff(lab, order);
  } finally {
    await lab.stop();
  }
}

/** One Shoot goes to and fro; after a run that went wrong, another takes its place. */
async function workOff(lab: Lab, { blows, evidence }: Order): Promise<void> {
  let count = 0;
  let ground: Ground | undefined;
  for (const blow of blows) {
    ground ??= await breakGround(lab, (count += 1));
    const { shoot, route, expected } = ground;
    const outcome = await tryMigration(lab, shoot, route, blow, expected);
    report(outcome, blow);
    const directory = join(evidence, `${blow.flow}-${blow.step}-${blow.part}`);
    if (outcome.faults.length > 0 && evidence !== "") await keepEvidence(lab, shoot, outcome.faults, directory);
    ground = outcome.faults.length > 0 ? undefined : { ...ground, route: route === there ? back : there };
  }
}

interface Ground {
  readonly shoot: LabShoot;
  readonly route: Route;
  readonly expected: World;
}

/** A new Shoot, moved there and back again without a blow: both have to come to the same. */
async function breakGround(lab: Lab, count: number): Promise<Ground> {
  const shoot = await createLabShoot(lab, `moved-${count}`, there.source);
  await shoot.settles("Create", there.source);
  const first = await tryMigration(lab, shoot, there, undefined, undefined);
  report(first);
  if (first.faults.length === 0) report(await tryMigration(lab, shoot, back, undefined, first.world));
  return { shoot, route: there, expected: first.world };
}

function report({ faults, took, fallen }: Outcome, blow?: Blow): void {
  const line: Report = { faults, took, fallen, ...(blow === undefined ? {} : { blow }) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
