import type { ShootView } from "../activities/index.ts";
import { operationsIn, type ShootRequest } from "../api/requests.ts";
import type { Migration, ShootOperation, ShootRun } from "../api/shoot/run.ts";

/** What the entity does next: an operation, letting the Shoot go, saying why nothing can be done, or waiting (ms), and what for. */
export type Decision =
  | { readonly do: "operate"; readonly run: ShootRun; readonly request?: string }
  | { readonly do: "release" }
  | { readonly do: "report" }
  | { readonly do: "wait"; readonly for: number; readonly until: string };

/** Decides from a fresh view of the Shoot. `now` is ms since the epoch; `jitter` is between 0 and 1. Pure. */
export function decide(view: ShootView, now: number, jitter: number): Decision {
  if (view.ignored) return { do: "wait", for: view.syncPeriod, until: "the Shoot is not ignored any more" };
  if (view.deleting && view.moving === undefined) return decideDeletion(view);
  if (view.run === undefined) return { do: "report" };
  const due = dueIn(view, now, jitter);
  const hasFailed = view.lastOperation?.state === "Failed";
  if (due > 0)
    return { do: "wait", for: due, until: hasFailed ? "a failed Shoot changes" : "the next Reconcile is due" };
  const run: ShootRun = {
    ...view.run,
    operation: operationType(view),
    ...(isRepetition(view) ? { periodic: true } : {}),
  };
  return view.request === undefined ? { do: "operate", run } : { do: "operate", run, request: view.request };
}

/** Whether an operation only repeats what has succeeded: neither a user nor a change has asked for it. */
function isRepetition(view: ShootView): boolean {
  const { moving, request, run, lastOperation, generation, observedGeneration } = view;
  const asked = moving ?? request ?? run?.tasks ?? run?.etcdDamaged;
  return asked === undefined && lastOperation?.state === "Succeeded" && generation === observedGeneration;
}

/** Whether what the Shoot asks for now makes the running operation pointless. */
export function supersedes(view: ShootView, running: ShootRun): boolean {
  if (isLate(view, running)) return true;
  if (running.migration !== undefined) return supersedesMove(view, running);
  if (view.deleting) return supersedesDeletion(view, running);
  if (view.generation !== running.generation) return true;
  if (isNewDamage(view, running)) return true;
  return view.lastOperation?.state === "Failed" && asksFor(view, "reconcile");
}

/** Damaged data of an etcd keep an operation waiting that does not know of them. */
const isNewDamage = ({ run }: ShootView, running: ShootRun): boolean =>
  run?.etcdDamaged === true && running.etcdDamaged !== true && running.operation === "Reconcile";

/** A deletion begins anew with what was mended, and by force; force is seen through. */
function supersedesDeletion({ generation, run }: ShootView, running: ShootRun): boolean {
  if (running.operation !== "Delete") return true;
  return running.forced !== true && (run?.forced === true || generation !== running.generation);
}

/**
 * What takes away what is left of the Shoot on seeds that do not lead. Nothing while it moves: what is left may be all that
 * there is of it.
 */
export function cleanUpsOf({ leftovers, run, moving }: ShootView): ShootRun[] {
  if (run === undefined || moving !== undefined) return [];
  return leftovers.map((seedName) => {
    const migration = { source: seedName, destination: run.seedName, takeover: false };
    return { ...run, operation: "Migrate", seedName, migration };
  });
}

/** Whether the Shoot carries this request. */
export const asksFor = ({ request }: Pick<ShootView, "request">, operation: ShootRequest): boolean =>
  request !== undefined && operationsIn(request).includes(operation);

/** The operation's type: an unfinished Create goes on as Create, everything later is Reconcile. */
export function operationType({ lastOperation, moving }: Pick<ShootView, "lastOperation" | "moving">): ShootOperation {
  if (moving !== undefined) return moving;
  if (lastOperation === undefined) return "Create";
  return lastOperation.type === "Create" && lastOperation.state !== "Succeeded" ? "Create" : "Reconcile";
}

/**
 * A move is seen through: deletion and other wishes wait for it. It can be given up until the flip, and taken over at any
 * time; a flip that was believed dead may still have happened, and then another is needed, under a later epoch.
 */
function supersedesMove({ moving, run }: ShootView, running: ShootRun): boolean {
  if (moving === "Migrate") return isNewTakeover(run?.migration, running.migration);
  return running.operation === "Migrate" && run?.migration?.returning === true;
}

/** Approved since the running move began; also when that was a takeover, whose new seed has died as well. */
const isNewTakeover = (wanted: Migration | undefined, underWay: Migration | undefined): boolean =>
  wanted?.takeover === true && (underWay?.takeover !== true || underWay.destination !== wanted.destination);

/** A later epoch has begun, and not by this operation's own flip: nothing that it still writes is taken. */
function isLate({ run, moving }: ShootView, { operation, epoch, migration: way }: ShootRun): boolean {
  if (run === undefined || run.epoch <= epoch) return false;
  const { source, destination } = run.migration ?? {};
  const hasFlipped = moving === "Restore" && way?.source === source && way?.destination === destination;
  return operation !== "Migrate" || !hasFlipped;
}

/**
 * A Shoot that never began has nothing in any seed; one that is done only has to be let go. One that sleeps is woken: the
 * users' objects are deleted through its control plane.
 */
function decideDeletion(view: ShootView): Decision {
  const done = view.lastOperation?.type === "Delete" && view.lastOperation.state === "Succeeded";
  // Whether seeds that were left are cleaned up is not told: it is looked for.
  if (!view.finalizer) return { do: "wait", for: 60_000, until: "others let the Shoot go" };
  if (done && view.leftovers.length > 0)
    return { do: "wait", for: 60_000, until: `Seeds that it has left are cleaned up: ${view.leftovers.join(", ")}` };
  if (!view.initialised || done) return { do: "release" };
  if (view.run === undefined) return { do: "report" };
  const run: ShootRun = { ...view.run, operation: "Delete", hibernated: false };
  return view.request === undefined ? { do: "operate", run } : { do: "operate", run, request: view.request };
}

/** How long, in ms, until the next operation is due; 0 when it is. A tenth of the period spreads the Shoots out. */
function dueIn(view: ShootView, now: number, jitter: number): number {
  const { lastOperation, generation, observedGeneration, syncPeriod } = view;
  if (view.moving !== undefined) return 0;
  if (lastOperation === undefined || generation !== observedGeneration) return 0;
  if (asksFor(view, "reconcile") || asksFor(view, "retry")) return 0;
  if (lastOperation.state === "Failed") return syncPeriod;
  if (lastOperation.state !== "Succeeded") return 0;
  const pause = wasDamagedSince(view, lastOperation) ? BETWEEN_REPAIRS : syncPeriod * (1 + jitter / 10);
  return Math.max(0, Date.parse(lastOperation.lastUpdateTime) + pause - now);
}

/** In ms: a seed says when it found damage, and one whose clock is ahead, or that lies, would have one operation follow another for ever. */
const BETWEEN_REPAIRS = 60_000;

/** What an operation has mended is still reported until its seed looks again: that is older than the operation's end. */
const wasDamagedSince = (
  { etcdDamagedSince }: ShootView,
  { lastUpdateTime }: NonNullable<ShootView["lastOperation"]>,
): boolean => etcdDamagedSince !== undefined && Date.parse(etcdDamagedSince) >= Date.parse(lastUpdateTime);
