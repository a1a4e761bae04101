import { extensionKinds, type ExtensionObject } from "../api/extensions/kinds.ts";
import { gone, inError, migrated, ready, restored, type Check } from "./caller.ts";
import { lastOf, type ChapterName } from "./chapter.ts";
import { operationOf } from "./clauses/judgements.ts";
import { changeOf } from "./objects.ts";
import { Standstill, type Stage } from "./stage.ts";
import type { Subject } from "./subject.ts";

/** A story that is played with one object, for the chapters that it yields. */
export interface Scenario {
  readonly chapters: readonly ChapterName[];
  /** Why it cannot be played with this subject; undefined where it can. */
  readonly obstacle?: (subject: Subject) => string | undefined;
  play(stage: Stage): Promise<void>;
}

const life: Scenario = {
  chapters: ["create", "retrigger", "untriggered", "update", "delete"],
  async play(stage) {
    const { caller, object } = stage;
    await stage.require("the object's readiness", await caller.create(object, "reconcile"), ready, "create");
    const first = await caller.ask(object, "reconcile");
    await stage.wait("retrigger", await caller.insist(object, "reconcile"), ready, first);
    await stage.rest();
    await stage.settle("untriggered", await caller.change(object, { spec: changeOf(stage.subject) }));
    await stage.wait("update", await caller.ask(object, "reconcile"), ready);
    await stage.wait("delete", await caller.remove(object), gone);
  },
};

const failedShoot: Scenario = {
  chapters: ["failedShoot", "resumedShoot"],
  obstacle: ({ kind }) => (hasCluster(kind) ? undefined : `a ${kind} belongs to no Shoot`),
  async play(stage) {
    const { caller, object } = stage;
    await stage.require("the object's readiness", await caller.create(object, "reconcile"), ready);
    await stage.tellShoot({ lastOperation: "Failed" });
    await stage.settle("failedShoot", await caller.ask(object, "reconcile"));
    await stage.tellShoot({ lastOperation: "Processing" });
    await stage.wait("resumedShoot", await caller.ask(object, "reconcile"), ready);
  },
};

const foreignType: Scenario = {
  chapters: ["foreignType"],
  async play(stage) {
    const { caller, object } = stage;
    const spec = { ...(object["spec"] as object), type: `${stage.subject.type}-of-another` };
    await stage.settle("foreignType", await caller.create({ ...object, spec }, "reconcile"));
  },
};

const mistake: Scenario = {
  chapters: ["error", "recovery"],
  async play(stage) {
    const { caller, object, subject } = stage;
    await spoil(stage);
    const failing = subject.failingConfig === undefined ? {} : { providerConfig: subject.failingConfig };
    const spec = { ...(object["spec"] as object), ...failing };
    const asked = await caller.create({ ...object, spec }, "reconcile");
    const error = await stage.wait("error", asked, either(inError, ready));
    if (error.end.reached && !inError(error.versions, asked).reached) {
      const because = `${errorOf(subject)} did not come about: --failing-config names a providerConfig that fails`;
      stage.omit("error", because);
      throw new Standstill(because);
    }
    await stage.restoreCredentials();
    const { providerConfig = null } = object["spec"] as { providerConfig?: unknown };
    if (subject.failingConfig !== undefined) await caller.change(object, { spec: { providerConfig } });
    // Controllers try again by themselves, perhaps before they are asked.
    await stage.wait("recovery", await caller.ask(object, "reconcile"), ready, asked);
  },
};

const forceDeletion: Scenario = {
  chapters: ["forceDeletion"],
  obstacle: ({ kind }) => (hasCluster(kind) ? undefined : `a ${kind} belongs to no Shoot`),
  async play(stage) {
    const { caller, object } = stage;
    await stage.require("the object's readiness", await caller.create(object, "reconcile"), ready);
    await stage.removeCredentials();
    await stage.tellShoot({ lastOperation: "Processing", byForce: true });
    await stage.wait("forceDeletion", await caller.remove(object), gone);
  },
};

const move: Scenario = {
  chapters: ["migrate", "migrated", "waitForState", "stateWritten", "restore", "deleteRestored"],
  obstacle: ({ kind }) => (extensionKinds[kind].contract.stateful ? undefined : `no flow moves a ${kind}`),
  async play(stage) {
    const { caller, object } = stage;
    await stage.require("the object's readiness", await caller.create(object, "reconcile"), ready);
    const left = await stage.require("its migration", await caller.ask(object, "migrate"), migrated, "migrate");
    await stage.rest();
    const { state, resources } = await stage.keptOf(lastOf(left));
    await stage.settle("migrated", await caller.ask(object, "reconcile"));
    // A controller that keeps its finalizer was judged for that: a migrated object stands for nothing here.
    await stage.require("its end", await letGo(stage), gone);

    await stage.settle("waitForState", await caller.create(object, "wait-for-state"));
    if (state === undefined) stage.omit("stateWritten", "the controller keeps no state");
    else {
      const kept = { status: { state, resources } };
      await stage.settle("stateWritten", await caller.change(object, kept, "status"));
    }
    await stage.wait("restore", await caller.ask(object, "restore"), restored);
    await stage.wait("deleteRestored", await caller.remove(object), gone);
  },
};

const crash: Scenario = {
  chapters: ["crash", "crashedDeletion"],
  obstacle: ({ restart }) => (restart ? undefined : "no --restart-command says how to kill and start the controller"),
  async play(stage) {
    const { caller, object, subject } = stage;
    const asked = await caller.create(object, "reconcile");
    await caller.wait(asked, either(creating, ready), CRASH_WITHIN);
    await subject.restart?.();
    await stage.require("the object's readiness", asked, ready, "crash");
    const removed = await caller.remove(object);
    await caller.wait(removed, either(deleting, gone), CRASH_WITHIN);
    await subject.restart?.();
    await stage.wait("crashedDeletion", removed, gone);
  },
};

/** What may be played beside each other; the last one stops the controller of all. */
export const scenarios = { beside: [life, failedShoot, foreignType, mistake, forceDeletion, move], alone: [crash] };

/** In ms: a controller that has not begun by then is killed nevertheless. */
const CRASH_WITHIN = 10_000;

const hasCluster = (kind: Subject["kind"]): boolean => extensionKinds[kind].contract.cluster !== "never";

/** The controller has taken up what it was asked for, and has not finished. */
const creating: Check = inState(
  (object) => object.status?.lastOperation?.state === "Processing" && operationOf(object) === undefined,
);

const deleting: Check = inState(({ status }) => status?.lastOperation?.type === "Delete");

function inState(holds: (object: ExtensionObject) => boolean): Check {
  return (versions) => {
    const reached = versions.slice(1).some(({ object }) => holds(object));
    return reached ? { reached } : { reached, message: "the controller has not begun" };
  };
}

const either =
  (one: Check, other: Check): Check =>
  (versions, asked) => {
    const first = one(versions, asked);
    return first.reached ? first : other(versions, asked);
  };

/** Where no configuration is known that fails, the credentials are missing. */
async function spoil({ subject, removeCredentials }: Stage): Promise<void> {
  if (subject.failingConfig === undefined) await removeCredentials();
}

const errorOf = ({ failingConfig }: Subject): string =>
  failingConfig === undefined ? "an error without the Secret of spec.secretRef" : "an error with the failing config";

async function letGo({ caller, object }: Stage) {
  await caller.change(object, { metadata: { finalizers: null } });
  return await caller.remove(object);
}
