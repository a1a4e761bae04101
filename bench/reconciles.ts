import { flowWorkflowId } from "../src/workflows/contract.ts";
import { atMost } from "./at-most.ts";
import { seconds, type Bench, type Findings, type Ground, type Table } from "./bench.ts";
import { isWatch, isWrite, since, sumOf } from "./counting-client.ts";
import { refOf, startFleet, type Fleet } from "./fleet.ts";
import { median } from "./percentiles.ts";

/** Many Shoots reconciled at once with nothing to change: with every row, and with a survey as each hour. */
export const reconciles: Bench = { name: "reconciles", measure: measureReconciles };

/** Of flows that ran at once; times are ms, and all but the first two figures are for one flow. */
interface Reconciled {
  readonly took: number;
  readonly flowsPerMinute: number;
  readonly requests: number;
  readonly writes: number;
  readonly dryRuns: number;
  readonly toTheShoot: number;
  /** Of each process; that of the bench plays the seed's controllers. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly history: History;
}

/** How many events the flows' histories have. */
interface History {
  readonly median: number;
  readonly most: number;
}

async function measureReconciles(ground: Ground): Promise<Findings> {
  const count = ground.short ? 5 : ground.shoots;
  const fleet = await startFleet(count, ground);
  try {
    const created = await historyOf(fleet);
    ground.say("reconciles: as an operator asks for it");
    const asked = await reconcileAll(fleet, () => askAll(fleet));
    ground.say("reconciles: as each hour, for the first time and then again");
    await reconcileAll(fleet, () => fleet.letTimePass()); // the first asks API servers what is known from then on
    const periodic = await reconcileAll(fleet, () => fleet.letTimePass());
    const tables = [tableOf("as an operator asks for it", count, asked), tableOf("as each hour", count, periodic)];
    const creation = { title: `${count} Shoots created`, rows: [eventsOf(created)] };
    return { figures: { shoots: count, created, asked, periodic }, tables: [creation, ...tables] };
  } finally {
    await fleet.stop();
  }
}

const askAll = ({ kube, runs }: Fleet): Promise<unknown> =>
  atMost(20, runs, (run) =>
    kube.patch(refOf(run), { metadata: { annotations: { "gardener.cloud/operation": "reconcile" } } }),
  );

/** Makes something happen to all Shoots that begins a Reconcile of each, and waits for these. */
async function reconcileAll(fleet: Fleet, begin: () => Promise<unknown>): Promise<Reconciled> {
  const { length: count } = fleet.runs;
  const [requests, cpu, begun] = [await fleet.requests(), await fleet.cpu(), Date.now()];
  await begin();
  await fleet.succeeded("Reconcile", begun);
  const took = Date.now() - begun;
  const [made, spent] = [since(sumOf(requests), sumOf(await fleet.requests())), await fleet.cpu()];
  const requestsOf = (wanted: (sort: string) => boolean): number =>
    Object.entries(made).reduce((sum, [sort, one]) => (!isWatch(sort) && wanted(sort) ? sum + one : sum), 0) / count;
  return {
    took,
    flowsPerMinute: (count * 60_000) / took,
    requests: requestsOf(() => true),
    writes: requestsOf(isWrite),
    dryRuns: requestsOf((sort) => sort.includes("dry-run")),
    toTheShoot: requestsOf((sort) => sort.startsWith("shoot ")),
    cpu: Object.fromEntries(
      Object.entries(spent).map(([name, all]) => [name, ((all - (cpu[name] ?? 0)) * 1_000) / count]),
    ),
    history: await historyOf(fleet),
  };
}

/** Of the last flow of each Shoot, at most fifty of them. */
async function historyOf({ runs, temporal }: Fleet): Promise<History> {
  const counts = await atMost(10, runs.slice(0, 50), async (run) => {
    const { events } = await temporal.client.workflow.getHandle(flowWorkflowId(run, "reconcile")).fetchHistory();
    return events?.length ?? 0;
  });
  return { median: median(counts), most: Math.max(...counts) };
}

function tableOf(how: string, count: number, found: Reconciled): Table {
  const cpu = Object.entries(found.cpu).map(([name, ms]) => `${name} ${Math.round(ms)}`);
  return {
    title: `${count} Shoots reconciled at once with nothing to change, ${how}`,
    rows: [
      ["flows a minute", `${Math.round(found.flowsPerMinute)} (${seconds(found.took)} in all)`],
      ["API requests of a flow", found.requests.toFixed(1)],
      ["of these, writes", found.writes.toFixed(1)],
      ["dry runs", found.dryRuns.toFixed(1)],
      ["to the Shoot's own API server", found.toTheShoot.toFixed(1)],
      ["CPU of a flow, in ms", cpu.join(", ")],
      eventsOf(found.history),
    ],
  };
}

const eventsOf = ({ median: middle, most }: History) =>
  ["events of a flow's history, median and most", `${middle}, ${most}`] as const;
