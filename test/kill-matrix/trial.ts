import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { flowWorkflowId, cleanUpWorkflowId } from "../../src/workflows/contract.ts";
import type { Lab, ProcessName } from "./lab.ts";
import type { LabShoot } from "./shoots.ts";
import { armStrike, type Durations, type Strike } from "./strike.ts";
import { compareWorlds, describeSecrets, describeWorld, type World } from "./world.ts";

/** The flows of a migration, in their order. */
export type FlowName = "migrate" | "restore" | "clean-up";

/** What can be killed: our workers by their part in a migration, and the servers that everybody works with. */
export type Part =
  | "garden"
  | "source"
  | "destination"
  | "manager"
  | "dns"
  | "temporal"
  | "garden-api"
  | "source-api"
  | "destination-api";

/** What dies at which step, and when it is there again. */
export interface Blow {
  readonly flow: FlowName;
  readonly step: string;
  readonly part: Part;
  /** In ms: how long after the step has begun. */
  readonly delay: number;
  /** In ms: how long it stays away. */
  readonly away: number;
}

/** How one migration went. */
export interface Outcome {
  readonly world: World;
  /** What is wrong; nothing when it went as it must. */
  readonly faults: readonly string[];
  /** In ms, until the Shoot was there and nothing was left behind. */
  readonly took: number;
  /** Whether the flow came to the step. */
  readonly fallen: boolean;
}

/** From which seed to which. */
export interface Route {
  readonly source: string;
  readonly destination: string;
}

/** The way there. */
export const there: Route = { source: "seed-1", destination: "seed-2" };

/** And back. */
export const back: Route = { source: "seed-2", destination: "seed-1" };

/** Longest time, in ms, that a migration may take, besides the time without a server. */
const PATIENCE = 120_000;

/** Moves the Shoot along the route while the blow falls, if there is one, and says what came of it. */
export async function tryMigration(
  lab: Lab,
  shoot: LabShoot,
  route: Route,
  blow: Blow | undefined,
  expected: World | undefined,
): Promise<Outcome> {
  const secrets = await describeSecrets(lab, shoot, route.source);
  const strike = blow && (await arm(lab, shoot, route, blow));
  const begin = performance.now();
  await shoot.bind(route.destination);
  const failure = await shoot.settles("Restore", route.destination, PATIENCE + (blow?.away ?? 0)).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const took = Math.round(performance.now() - begin);
  strike?.cancel();
  const fallen = (await strike?.fallen) ?? true;
  const world = await describeWorld(lab, shoot, route);
  const faults = [
    ...(failure === undefined ? [] : [failure]),
    ...lab.ledger.takeFaults(shoot.technicalID),
    ...compareWorlds(secrets, await describeSecrets(lab, shoot, route.destination)).map((line) => `secret ${line}`),
    ...(expected === undefined ? [] : compareWorlds(expected, world)),
  ];
  lab.ledger.takeActs(shoot.technicalID);
  return { world, faults, took, fallen };
}

/** Leaves behind what helps to understand a migration that went wrong. */
export async function keepEvidence(
  lab: Lab,
  shoot: LabShoot,
  faults: readonly string[],
  directory: string,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "faults.txt"), faults.join("\n"));
  for (const [name, process] of lab.processes) await writeFile(join(directory, `${name}.log`), process.output());
  for (const flow of ["migrate", "restore"] as const) {
    const history = await lab.temporal.client.workflow
      .getHandle(flowWorkflowId(shoot, flow))
      .fetchHistory()
      .catch(() => undefined);
    if (history) await writeFile(join(directory, `${flow}.json`), JSON.stringify(history, undefined, 1));
  }
}

/** What the lab's processes are told, by which steps that only wait are known. */
const durations: Durations = { oldAddressForgotten: 1, leases: 2 };

async function arm(lab: Lab, shoot: LabShoot, route: Route, blow: Blow): Promise<Strike> {
  const { flow, step, part, delay, away } = blow;
  const workflowId = flow === "clean-up" ? cleanUpWorkflowId(shoot, route.source) : flowWorkflowId(shoot, flow);
  const victim = victimOf(lab, part, route);
  return armStrike(lab.temporal.client, { workflowId, step }, durations, async () => {
    await sleep(delay);
    await victim.kill();
    await sleep(away);
    await victim.restart();
  });
}

interface Victim {
  kill(): Promise<void>;
  restart(): Promise<void>;
}

function victimOf(lab: Lab, part: Part, route: Route): Victim {
  const seeds = { "source-api": route.source, "destination-api": route.destination };
  const servers = { dns: lab.dns, temporal: lab.temporal, "garden-api": lab.garden };
  if (part in servers) return servers[part as keyof typeof servers];
  if (part in seeds) return found(lab.seeds.get(seeds[part as keyof typeof seeds]), part);
  return found(lab.processes.get(processOf(part, route)), part);
}

function processOf(part: Part, route: Route): ProcessName {
  if (part === "source" || part === "destination") return `worker-${route[part]}` as ProcessName;
  return part === "garden" ? "worker-garden" : "manager";
}

function found<T>(one: T | undefined, name: string): T {
  if (one === undefined) throw new Error(`there is no ${name}`);
  return one;
}
