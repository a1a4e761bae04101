import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Blow } from "./blow.ts";
import { keepEvidence } from "./evidence.ts";
import { startLab, type Lab } from "./lab.ts";
import { createLabShoot } from "./shoots.ts";
import { back, there, tryMigrations, type Outcome, type Traveller } from "./trial.ts";

/** What a shard is told on its standard input. */
export interface Order {
  readonly blows: readonly Blow[];
  /** How many Shoots move at once. */
  readonly shoots: number;
  /** Every second Shoot goes the other way. */
  readonly crossing: boolean;
  readonly leaseSeconds: number;
  /** Directory for what helps to understand migrations that went wrong; none is kept when empty. */
  readonly evidence: string;
}

/** A line of a shard's standard output, as JSON; without a blow, nobody was killed. */
export interface Report extends Omit<Outcome, "worlds"> {
  readonly blow?: Blow;
}

/** Longest time, in ms, that the creation of a Shoot may take. */
const PATIENCE = 180_000;

/** Works off the blows of one order in a lab of its own. */
await main(JSON.parse(await text(process.stdin)) as Order);

async function main(order: Order): Promise<void> {
  const lab = await startLab(order);
  try {
    await workOff(lab, order);
  } finally {
    await lab.stop();
  }
}

/** The same Shoots go to and fro; after a run that went wrong, others take their place. */
async function workOff(lab: Lab, order: Order): Promise<void> {
  let count = 0;
  let travellers: readonly Traveller[] | undefined;
  for (const blow of order.blows) {
    travellers ??= await breakGround(lab, order, (count += 1));
    const outcome = await tryMigrations(lab, travellers, blow);
    report(outcome, blow);
    const directory = join(order.evidence, `${blow.flow}-${blow.step}-${blow.part}`);
    const wrong = outcome.faults.length > 0;
    const shoots = travellers.map(({ shoot }) => shoot);
    if (wrong && order.evidence !== "") await keepEvidence(lab, shoots, outcome.faults, directory);
    travellers = wrong ? undefined : travellers.map(turned);
  }
}

/** New Shoots, moved there and back again without a blow: both have to come to the same. Many go only there. */
async function breakGround(lab: Lab, { shoots, crossing }: Order, count: number): Promise<readonly Traveller[]> {
  const routes = Array.from({ length: shoots }, (_, index) => (crossing && index % 2 === 1 ? back : there));
  const created = await Promise.all(
    routes.map(async (route, index): Promise<Traveller> => {
      // No name may begin with another one: objects are told apart by it.
      const name = [count, ...(shoots > 1 ? [index + 1] : [])].map((one) => String(one).padStart(2, "0"));
      const shoot = await createLabShoot(lab, `moved-${name.join("-")}`, route.source);
      await shoot.settles("Create", route.source, PATIENCE * shoots);
      return { shoot, route, expected: undefined };
    }),
  );
  const first = await tryMigrations(lab, created, undefined);
  report(first);
  const known = created.map((traveller, index) => ({ ...traveller, expected: first.worlds[index] }));
  const second = shoots > 1 ? undefined : await tryMigrations(lab, known.map(turned), undefined);
  if (second !== undefined) report(second);
  const faults = [...first.faults, ...(second?.faults ?? [])];
  if (faults.length > 0) throw new Error("an undisturbed migration went wrong");
  return second === undefined ? known.map(turned) : known;
}

function turned({ route, ...traveller }: Traveller): Traveller {
  return { ...traveller, route: route === there ? back : there };
}

function report({ faults, arrivals, fallen, peaks }: Outcome, blow?: Blow): void {
  const line: Report = { faults, arrivals, fallen, peaks, ...(blow === undefined ? {} : { blow }) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
