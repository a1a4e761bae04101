import { setTimeout as sleep } from "node:timers/promises";
import { flowWorkflowId, shootWorkflowId } from "../src/workflows/contract.ts";
import { actionsIn } from "./actions.ts";
import { atMost } from "./at-most.ts";
import type { Bench, Findings, Ground, Table } from "./bench.ts";
import { isProbe, isWatch, since, sumOf, type Requests } from "./counting-client.ts";
import { startFleet, type Fleet } from "./fleet.ts";

/**
 * What an idle Shoot costs in an hour. Three parts are measured, to be added: what goes on all the time, by some minutes of
 * it; the rounds that come once an hour, by starting the seed's worker anew, which begins with one; and the one periodic
 * Reconcile, of which the first after a worker's start asks API servers what those after it know for a day.
 */
export const idle: Bench = { name: "idle", measure: measureIdle };

/** For one Shoot and hour, but for the last. */
interface Costs {
  readonly requests: number;
  readonly watches: number;
  readonly probes: number;
  /** Temporal's, as its cloud bills them. */
  readonly actions: number;
  /** Requests of the seed's own, however many Shoots it has. */
  readonly ofTheSeed: number;
  /** Of the requests, how many go to each cluster, and how many there are of each sort. */
  readonly to: Readonly<Record<"garden" | "seed" | "shoot", number>>;
  readonly sorts: Requests;
}

/** In ms: what an operation brings about after it has succeeded. */
const AFTERMATH = 2_000;

/** In ms: until the rounds after what has just happened are over, how long nothing happens, and a round of everything. */
const whole = { shoots: 20, settle: 150_000, nothing: 180_000, round: 75_000 };
const short = { shoots: 2, settle: 1_000, nothing: 5_000, round: 5_000 };

async function measureIdle(ground: Ground): Promise<Findings> {
  const { shoots, settle, nothing, round } = ground.short ? short : whole;
  const fleet = await startFleet(shoots, ground);
  try {
    await sleep(settle);
    ground.say(`idle: nothing happens for ${nothing / 1_000} s`);
    const always = await during(fleet, () => sleep(nothing));
    const reconcile = () =>
      during(fleet, async () => {
        const begun = Date.now();
        await fleet.letTimePass();
        await fleet.succeeded("Reconcile", begun);
        await sleep(AFTERMATH);
      });
    ground.say("idle: two periodic Reconciles");
    const asking = await reconcile();
    const knowing = await reconcile();
    ground.say("idle: one round of all that comes once an hour");
    await fleet.restartSeed();
    await sleep(round);
    const { seed: rounds = {} } = await fleet.requests();
    const hour = 3_600_000 / nothing;
    const parts = {
      always: costsOf(scaled(always.requests, hour), always.actions * hour, shoots),
      rounds: costsOf(rounds, 0, shoots),
      asking: costsOf(asking.requests, asking.actions - 1, shoots), // a timer begins it, not our signal
      reconcile: costsOf(knowing.requests, knowing.actions - 1, shoots),
    };
    const tables = [
      tableOf(`An idle Shoot, per hour, what goes on all the time; by ${nothing / 1_000} s of ${shoots}`, parts.always),
      tableOf("the rounds that come once an hour", parts.rounds),
      tableOf("one periodic Reconcile, the first after a worker's start", parts.asking),
      tableOf("one periodic Reconcile, later", parts.reconcile),
      ...Object.entries(parts).map(([name, { sorts }]) => sortsOf(`requests of a Shoot, ${name}`, sorts)),
    ];
    const figures = Object.entries(parts).map(([name, { sorts: _, ...costs }]) => [name, costs] as const);
    return { figures: { shoots, ...Object.fromEntries(figures) }, tables };
  } finally {
    await fleet.stop();
  }
}

/** What is asked of API servers while something goes on, by all processes; and the actions of Temporal for one Shoot. */
async function during(fleet: Fleet, goesOn: () => Promise<unknown>): Promise<{ requests: Requests; actions: number }> {
  const [requests, actions] = [sumOf(await fleet.requests()), await countActions(fleet)];
  await goesOn();
  const [later, more] = [sumOf(await fleet.requests()), await countActions(fleet)];
  return { requests: since(requests, later), actions: more - actions };
}

/** Of a Shoot's workflow and of all its flows, on average. */
async function countActions({ runs, temporal }: Fleet): Promise<number> {
  const counts = await atMost(10, runs, async (run) => {
    let count = 0;
    for (const workflowId of [shootWorkflowId(run), flowWorkflowId(run, "reconcile")])
      for await (const { runId } of temporal.client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
        const { events } = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory();
        count += actionsIn(events ?? []);
      }
    return count;
  });
  return counts.reduce((sum, count) => sum + count, 0) / runs.length;
}

const scaled = (requests: Requests, factor: number): Requests =>
  Object.fromEntries(Object.entries(requests).map(([sort, count]) => [sort, count * factor]));

function costsOf(requests: Requests, actions: number, shoots: number): Costs {
  const sum = (wanted: (sort: string) => boolean): number =>
    Object.entries(requests).reduce((all, [sort, count]) => (wanted(sort) ? all + count : all), 0);
  const isOwn = (sort: string) => !isWatch(sort) && !isProbe(sort) && !isOfSeed(sort);
  const toCluster = (cluster: string) => sum((sort) => isOwn(sort) && sort.startsWith(`${cluster} `)) / shoots;
  return {
    requests: sum(isOwn) / shoots,
    to: { garden: toCluster("garden"), seed: toCluster("seed"), shoot: toCluster("shoot") },
    sorts: scaled(Object.fromEntries(Object.entries(requests).filter(([sort]) => isOwn(sort))), 1 / shoots),
    watches: sum(isWatch) / shoots,
    probes: sum(isProbe) / shoots,
    actions,
    ofTheSeed: sum(isOfSeed),
  };
}

/** A seed's heartbeat, and the list of its Shoots with which a round begins. */
const isOfSeed = (sort: string): boolean =>
  [
    "seed list Namespace",
    "garden read Seed",
    "garden read BackupBucket",
    "garden patch Seed",
    "seed get /version",
  ].includes(sort);

/** From the most to the fewest; what hardly ever is asked is left out. */
function sortsOf(title: string, sorts: Requests): Table {
  const found = Object.entries(sorts).filter(([, count]) => count >= 0.1);
  return { title, rows: found.sort(([, a], [, b]) => b - a).map(([sort, count]) => [sort, count.toFixed(1)] as const) };
}

function tableOf(title: string, { requests, to, watches, probes, actions, ofTheSeed }: Costs): Table {
  return {
    title,
    rows: [
      ["API requests", requests.toFixed(1)],
      ["to garden, seed, the Shoot's own", [to.garden, to.seed, to.shoot].map((count) => count.toFixed(1)).join(", ")],
      ["beside these, for watches; probes of its API server", `${watches.toFixed(1)}; ${probes.toFixed(1)}`],
      ["actions of Temporal", actions.toFixed(1)],
      ["requests of the seed, for all its Shoots together", ofTheSeed.toFixed(0)],
    ],
  };
}
