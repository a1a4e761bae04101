import type { SeedActivities, WaitTarget } from "../activities/index.ts";
import type { AppliedKind, Purpose } from "../api/extensions/kinds.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import type { ComponentName } from "../components/index.ts";
import { defineFlow, type Flow, type Step } from "../flow/flow.ts";

/**
 * The vocabulary of the flow tables: what a step does, as data. The step runner carries it out; plans, `shoot describe`,
 * docs/flows.md and the tests read it.
 */

/** In which seed a step acts: the one that leads, or one end of a move. */
export type SeedPlace = "seed" | "source" | "destination";

/** What a step does, and where. A step waits for what it has changed; `then` makes its outcome known. */
export type Action = SeedAction | GardenAction | SleepAction | SurveyAction;

/** What a step does in a seed. */
export type SeedAction = (ComponentAction | ExtensionAction | CallAction | SnapshotAction | WaitAction) & {
  readonly where: SeedPlace;
  /** An activity that follows, and is tried again by itself. */
  readonly then?: SeedCall;
};

/** Deploys, destroys or stops (pods gone, volumes kept) a component of the control plane. */
interface ComponentAction {
  readonly verb: "deploy" | "destroy" | "stop";
  readonly component: ComponentName;
}

/** Has the controllers of an extension kind act on the Shoot's objects, or removes these. */
interface ExtensionAction {
  readonly verb: "apply" | "restore" | "migrate" | "remove";
  readonly kind: AppliedKind;
  readonly purpose?: Purpose;
}

/** Calls one activity; where it answers with targets, these are waited for. */
interface CallAction {
  readonly verb: "call";
  readonly activity: SeedCall | SeedCallThatWaits;
}

/** Takes a snapshot of the Shoot's etcd, verifies it and records it. */
interface SnapshotAction {
  readonly verb: "snapshot";
}

/** Waits until there are as many ready nodes as the operation has to end with. */
interface WaitAction {
  readonly verb: "awaitNodes";
}

/** Calls one activity on the garden. */
export interface GardenAction {
  readonly verb: "call";
  readonly activity: GardenCall;
  readonly where: "garden";
}

/** Lets time pass: until two leases are over, or resolvers have forgotten the API server's address. */
export interface SleepAction {
  readonly verb: "sleep";
  readonly until: "leasesOver" | "addressForgotten";
  readonly where: "nowhere";
}

/** Looks which of the steps behind it have nothing to do; these are left out, but for what comes after one that has. */
export interface SurveyAction {
  readonly verb: "survey";
  readonly where: "seed";
}

type Names<Activities, Signature> = {
  [Name in keyof Activities]: Activities[Name] extends Signature ? Name : never;
}[keyof Activities];

/** An activity of the seed that needs no more than the facts of the run. */
export type SeedCall = Names<SeedActivities, (run: ShootRun) => Promise<void>>;

/** An activity of the seed that answers with what is to be waited for. */
export type SeedCallThatWaits = Names<SeedActivities, (run: ShootRun, step: string) => Promise<WaitTarget[]>>;

/** An activity of the garden that is a step of a flow. */
export type GardenCall =
  | "ensureLeadership"
  | "confirmLeadership"
  | "awaitRequiredExtensions"
  | "checkMigration"
  | "shareState"
  | "flip"
  | "leaveSeed";

/** Deploys a component and waits until it has rolled out. */
export const deploy = (component: ComponentName): SeedAction => ({ verb: "deploy", component, where: "seed" });

/** Destroys a component and waits until it is gone. */
export const destroy = (component: ComponentName): SeedAction => ({ verb: "destroy", component, where: "seed" });

/** Stops the pods of a component and waits until every one of them is gone; volumes stay. */
export const stop = (component: ComponentName): SeedAction => ({ verb: "stop", component, where: "seed" });

const extension =
  (verb: ExtensionAction["verb"]) =>
  (kind: AppliedKind, purpose?: Purpose): SeedAction => ({
    verb,
    kind,
    ...(purpose === undefined ? {} : { purpose }),
    where: "seed",
  });

/** Applies the Shoot's objects of an extension kind and waits until their controllers say that they are ready. */
export const apply = extension("apply");

/** Has the controllers of a kind take over what the kept state describes. */
export const restoreObjects = extension("restore");

/** Has the controllers of a kind stop acting in this seed and leave everything as it is. Objects and their state stay. */
export const migrateObjects = extension("migrate");

/** Removes the Shoot's objects of an extension kind and waits until they are gone. */
export const remove = extension("remove");

/** Calls one activity of the seed, and waits for what it answers with. */
export const call = (activity: SeedCall | SeedCallThatWaits): SeedAction => ({ verb: "call", activity, where: "seed" });

/** Calls one activity of the garden. */
export const inGarden = (activity: GardenCall): GardenAction => ({ verb: "call", activity, where: "garden" });

/** Takes a snapshot of the Shoot's etcd, verifies it and records it. */
export const snapshot: SeedAction = { verb: "snapshot", where: "seed" };

/** Looks which of the steps behind it have nothing to do. */
export const survey: SurveyAction = { verb: "survey", where: "seed" };

/** Waits until there are as many ready nodes as the operation has to end with. */
export const awaitNodes: SeedAction = { verb: "awaitNodes", where: "seed" };

/**
 * Waits until every look at the old leadership record has run out: two leases from when all servers answered the new one,
 * by Temporal's clock and by a monotonic clock of the garden's worker, whichever takes longer.
 */
export const leasesOver: SleepAction = { verb: "sleep", until: "leasesOver", where: "nowhere" };

/** Sleeps until resolvers have forgotten the API server's address as they knew it before. */
export const addressForgotten: SleepAction = { verb: "sleep", until: "addressForgotten", where: "nowhere" };

/** The same in the seed that the Shoot leaves. */
export const onSource = (action: SeedAction): SeedAction => ({ ...action, where: "source" });

/** The same in the seed that the Shoot goes to. */
export const onDestination = (action: SeedAction): SeedAction => ({ ...action, where: "destination" });

/** The same, and then an activity that makes its outcome known. (Not `then`: a module that exports that is a promise to `import()`.) */
export const thenCall = (action: SeedAction, activity: SeedCall): SeedAction => ({ ...action, then: activity });

/** A flow of a Shoot. */
export type ShootFlow = Flow<ShootRun, Action>;

/** Declares a flow of a Shoot: {@link defineFlow} with its types. */
export const defineShootFlow = <const Name extends string>(
  title: string,
  rows: { readonly [N in Name]: Step<ShootRun, Action, NoInfer<Name>> },
): ShootFlow => defineFlow(title, rows);

/** What a step does and where, in words for documents and plans. */
export function describeAction(action: Action): { readonly does: string; readonly where: string } {
  const then = "then" in action ? ` and \`${action.then}\`` : "";
  return { does: `${verbOf(action)}${then}`, where: places[action.where] };
}

const places = {
  garden: "garden",
  seed: "seed",
  source: "old seed",
  destination: "new seed",
  nowhere: "–",
} as const satisfies Record<Action["where"], string>;

function verbOf(action: Action): string {
  if ("component" in action) return `${action.verb} ${action.component}`;
  if ("kind" in action) return [action.verb, action.kind, action.purpose].filter(Boolean).join(" ");
  if (action.verb === "call") return `\`${action.activity}\``;
  if (action.verb === "sleep") return `wait for ${delays[action.until]}`;
  if (action.verb === "survey") return "look which steps have nothing to do";
  return action.verb === "snapshot" ? "take, verify and record a snapshot" : "wait for nodes";
}

const delays = { leasesOver: "two leases", addressForgotten: "the address's TTL" } as const;
