import { reconcileCluster, type Seen } from "../../../src/cluster-api/endpoint/reconcile.ts";
import type { EndpointWork } from "../../../src/cluster-api/endpoint/work.ts";
import { createLogger } from "../../../src/log.ts";
import type { Step } from "./changes.ts";
import { judgeRest, judgeWrite } from "./judge.ts";
import { Cluster } from "../../../src/api/cluster-api/index.ts";
import { completeEndpoint, isSameEndpoint } from "../../../src/cluster-api/endpoint/value.ts";
import type { Write } from "./store.ts";
import { createWorld, type World } from "./world.ts";

/** A way to break the controller: by what it is told, or by what becomes of its writes. */
export interface Fault {
  /** What the controller works with, made wrong. */
  readonly work?: (work: EndpointWork, world: World) => EndpointWork;
  /** What it sees, made wrong. */
  readonly seen?: (seen: Seen) => Seen;
}

/** Lets a history happen to the real controller on a model of an API server; what it did wrong first, undefined where nothing. */
export async function runHistory(history: readonly Step[], fault: Fault = {}): Promise<string | undefined> {
  const faults: string[] = [];
  const world = createWorld((write, of) => {
    const found = judgeWrite(write, of);
    if (found !== undefined) faults.push(found);
  });
  const pass = passOf(world, fault);

  for (const step of history) {
    world.take(step.change);
    if (step.coreFirst) world.actAsCore();
    see(world, step.seen);
    const { meanwhile } = step;
    if (meanwhile)
      world.meanwhile.push(...Array<() => void>(meanwhile.call).fill(() => {}), () => world.take(meanwhile.change));
    await pass();
    world.meanwhile.length = 0;
    if (step.rests) faults.push(...(await rest(world, pass)));
    if (faults.length > 0) return faults[0];
  }
  faults.push(...(await rest(world, pass)));
  return faults[0];
}

/** One pass of the controller over what it knows. */
function passOf(world: World, { work: breakWork = (work) => work, seen: breakSeen = (seen) => seen }: Fault) {
  const work: EndpointWork = {
    client: world.store.client,
    providers: { read: async () => world.providers() },
    events: { record: ({ reason }) => void world.events.push(reason) },
    log: createLogger({ name: "world", level: "silent" }),
  };
  const broken = breakWork(work, world);
  return async () => {
    world.begunWith = world.cluster()?.metadata.uid;
    const servingOf = () => ({ type: "Serving", status: "True", reason: "Answers", message: "answers" }) as const;
    await reconcileCluster(broken, breakSeen({ ...world.cache, servingOf, generates: true }));
  };
}

function see(world: World, { cluster, endpoints }: Step["seen"]): void {
  if (cluster) world.cache.cluster = world.cluster();
  if (endpoints) world.cache.endpoints = world.endpoints();
}

/** Everybody acts until nothing changes any more; says what is wrong then. */
async function rest(world: World, pass: () => Promise<void>): Promise<string[]> {
  const { writes } = world.store;
  for (let round = 0, before = -1; before !== writes.length; round++) {
    if (round > 8) return ["does not come to rest"];
    before = writes.length;
    world.actAsCore();
    world.collect();
    see(world, { cluster: true, endpoints: true });
    await pass();
  }
  const changed = writes.filter(changesCluster).length;
  const fault = judgeRest(world);
  if (changed > world.changes) return [`writes the Cluster ${changed} times for ${world.changes} changes`];
  writes.length = 0;
  world.changes = 0;
  return fault === undefined ? [] : [fault];
}

/** Whether a write has changed a Cluster's spec. */
function changesCluster({ before, after }: Write): boolean {
  if (after.kind !== Cluster.kind) return false;
  const [had, has] = [before, after].map((one) =>
    completeEndpoint((one as Cluster | undefined)?.spec.controlPlaneEndpoint),
  );
  return !isSameEndpoint(had, has);
}
