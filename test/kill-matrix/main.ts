import { join } from "node:path";
import { parseArgs } from "node:util";
import { chooseBlows } from "./blows.ts";
import { startLab, type Lab } from "./lab.ts";
import { hasOwnNetwork, rerunInOwnNetwork } from "./network.ts";
import { createLabShoot, type LabShoot } from "./shoots.ts";
import { keepEvidence, tryMigration, type Blow, type FlowName, type Outcome, type Part, type Route } from "./trial.ts";
import type { World } from "./world.ts";

/**
 * Kills every process at every step of a migration, one run for each, and holds the outcome against that of a migration
 * which nobody disturbed: `npm run kill-matrix -- [--steps a,b] [--processes garden,source,destination,manager]
 * [--flows migrate,restore,clean-up] [--sample N] [--seed N] [--evidence DIRECTORY]`. The exit code is 0 when all is well.
 */
process.exitCode = hasOwnNetwork() ? await main() : await rerunInOwnNetwork();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      steps: { type: "string", default: "" },
      processes: { type: "string", default: "garden,source,destination" },
      flows: { type: "string", default: "migrate,restore,clean-up" },
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      evidence: { type: "string", default: "" },
    },
  });
  const blows = chooseBlows({
    steps: listOf(values.steps),
    parts: listOf(values.processes) as Part[],
    flows: listOf(values.flows) as FlowName[],
    seed: Number(values.seed),
    ...(values.sample === undefined ? {} : { sample: Number(values.sample) }),
  });
  const lab = await startLab();
  try {
    return await runMatrix(lab, blows, values.evidence);
  } finally {
    await lab.stop();
  }
}

const listOf = (text: string): string[] => text.split(",").filter((word) => word !== "");

const there: Route = { source: "seed-1", destination: "seed-2" };
const back: Route = { source: "seed-2", destination: "seed-1" };

/** One Shoot goes to and fro; after a run that went wrong, another takes its place. */
async function runMatrix(lab: Lab, blows: readonly Blow[], evidence: string): Promise<number> {
  const begin = performance.now();
  const results: Result[] = [];
  let ground = await breakGround(lab, 0);
  for (const blow of blows) {
    const { shoot, route, expected } = ground;
    const outcome = await tryMigration(lab, shoot, route, blow, expected);
    results.push({ blow, outcome });
    print(blow, outcome);
    if (outcome.faults.length === 0) ground = { ...ground, route: reverse(route) };
    else {
      if (evidence !== "") await keepEvidence(lab, shoot, join(evidence, `${blow.flow}-${blow.step}-${blow.part}`));
      ground = await breakGround(lab, results.length);
    }
  }
  return summarize(results, performance.now() - begin);
}

interface Result {
  readonly blow: Blow;
  readonly outcome: Outcome;
}

interface Ground {
  readonly shoot: LabShoot;
  readonly route: Route;
  readonly expected: World;
}

/** A new Shoot, moved there and back again without a blow: both have to come to the same. */
async function breakGround(lab: Lab, number: number): Promise<Ground> {
  const shoot = await createLabShoot(lab, `moved-${number}`, there.source);
  await shoot.settles("Create");
  const first = await tryMigration(lab, shoot, there, undefined, undefined);
  const second = await tryMigration(lab, shoot, back, undefined, first.world);
  const faults = [...first.faults, ...second.faults];
  if (faults.length > 0) throw new Error(`an undisturbed migration went wrong:\n${faults.join("\n")}`);
  console.log(`undisturbed: ${seconds(first.took)} there, ${seconds(second.took)} back`);
  return { shoot, route: there, expected: first.world };
}

const reverse = (route: Route): Route => (route === there ? back : there);

function print({ flow, step, part, delay }: Blow, { faults, took, fallen }: Outcome): void {
  const verdict = faults.length === 0 ? "same" : "DIFFERENT";
  console.log(
    `${verdict}  ${flow} ${step}: ${part} killed after ${delay} ms, ${fallen ? seconds(took) : "step not reached"}`,
  );
  for (const fault of faults) console.log(`  ${fault}`);
}

function summarize(results: readonly Result[], total: number): number {
  const reached = results.filter(({ outcome }) => outcome.fallen);
  const wrong = results.filter(({ outcome }) => outcome.faults.length > 0);
  const times = reached.map(({ outcome }) => outcome.took).sort((one, other) => one - other);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  console.log(
    `\n${results.length} migrations in ${seconds(total)}: ${reached.length} with a killed process, ${results.length - wrong.length} with the same outcome, ${wrong.length} with another`,
  );
  console.log(`a migration took ${seconds(median)} in the median, ${seconds(times.at(-1) ?? 0)} at most`);
  const missed = results.filter(({ outcome }) => !outcome.fallen).map(({ blow }) => blow.step);
  if (missed.length > 0) console.log(`steps that were not reached: ${[...new Set(missed)].join(", ")}`);
  return wrong.length > 0 || results.length === 0 ? 1 : 0;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
