import { OPERATION_ANNOTATION, STALE_ANNOTATION, TIMESTAMP_ANNOTATION, writtenEpoch } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { nextTimestamp, refOf, type KubeClient } from "../../kube/index.ts";
import { readChangeable } from "./existing.ts";
import { listExtensionObjects } from "./list.ts";
import { StepError } from "../step-error.ts";
import { isOf } from "./purpose.ts";
import { hasMigrated, targetOf } from "./target.ts";
import type { WaitTarget } from "../index.ts";
import type { AppliedKind, Purpose } from "../../api/extensions/kinds.ts";
import type { ExtensionLike } from "../waits/readiness.ts";
import { givenMark, type MachineHandover } from "../machines/handover.ts";
import type { WaitGroup, Waits } from "../waits/waits.ts";

/** What an extension object is given when it comes to another seed. */
export interface KeptState {
  readonly state?: unknown;
  readonly resources?: readonly unknown[];
}

/** Every write goes through `seedClient`, which is the run's fenced client. */
export interface ExtensionMoveDeps {
  readonly seedClient: KubeClient;
  readonly waits: Waits;
  /** The objects that are wanted of a kind. */
  readonly wanted: (run: ShootRun, kind: AppliedKind, purpose?: Purpose) => Promise<readonly KubeObject[]>;
  /** What the garden has kept of an object's state; the objects that it refers to are there by then. */
  readonly kept: (run: ShootRun, object: KubeObject) => Promise<KeptState | undefined>;
  /** What a Worker is to be given of the machines that are made by machine-controller-manager. */
  readonly machines: MachineHandover;
  /** Has the Shoot's BackupEntry say which snapshots its provider may not let go of. */
  readonly protect: (run: ShootRun) => Promise<void>;
}

/** In whose name an object is asked. */
interface Asked {
  readonly extensions?: ShootRun["extensions"] | undefined;
  readonly kind: AppliedKind;
  readonly group: WaitGroup;
}

/** Migrates and restores objects by Gardener's contract: infrastructure stays, and controllers find it by the state. */
export function createExtensionMoves({ seedClient, waits, wanted, kept, machines, protect }: ExtensionMoveDeps) {
  /** Asks for an operation under a new id. */
  const ask = async (object: ExtensionLike, { kind, group, extensions }: Asked, { operation, marks = {} }: Request) => {
    const timestamp = nextTimestamp(object);
    const target: WaitTarget = { ...targetOf(object, kind, { timestamp, extensions }), asked: operation };
    const annotations = {
      [OPERATION_ANNOTATION]: operation,
      [TIMESTAMP_ANNOTATION]: timestamp,
      [STALE_ANNOTATION]: null,
      ...marks,
      ...group.registration(target, object.metadata.uid),
    };
    await seedClient.patch(refOf(object), { metadata: { annotations } });
    return target;
  };

  /** A state that the object has already is its own: it is overwritten only where an earlier epoch has left it. */
  const giveState = async (object: ExtensionLike, state: KeptState | undefined, stale: boolean) => {
    const { status = {} } = object as { status?: KeptState };
    if (!stale && (state === undefined || status.state !== undefined)) return;
    const { name, namespace, resourceVersion } = object.metadata;
    const given = stale ? { state: null, resources: null, ...state } : state;
    const fresh = { metadata: { name, namespace, resourceVersion }, status: given };
    await seedClient.patch(refOf(object), fresh, { subresource: "status" });
  };

  /** What an object has been here, and what it is to be given before its controller is asked. */
  const pastOf = async (run: ShootRun, kind: AppliedKind, existing: ExtensionLike | undefined) => {
    const stale = existing !== undefined && isStale(existing, run);
    const given = kind === "Worker" ? await machines(run, existing) : undefined;
    const waiting = existing === undefined || stale || given !== undefined || asked(existing) === "wait-for-state";
    return { stale, given, waiting };
  };

  /** Applies the wanted object with the annotations for the operation, if any, and for state from an earlier epoch. */
  const write = async (object: KubeObject, { operation, stale }: { operation?: string; stale: boolean }) => {
    const annotations = {
      ...object.metadata.annotations,
      ...(operation === undefined ? {} : { [OPERATION_ANNOTATION]: operation }),
      ...(stale ? { [STALE_ANNOTATION]: "true" } : {}),
    };
    return await seedClient.apply<ExtensionLike>({ ...object, metadata: { ...object.metadata, annotations } });
  };

  const restoreOne = async (run: ShootRun, object: KubeObject, kind: AppliedKind, group: WaitGroup) => {
    const existing = await readChangeable(seedClient, object);
    if (existing !== undefined && isMigrating(existing)) {
      // As when a move was called back: a controller that goes by epochs stopped when this one began, and goes on once its object is of it.
      if (writtenEpoch(existing.metadata.annotations) < run.epoch)
        await write(object, { operation: "migrate", stale: isStale(existing, run) });
      throw new StepError(`cannot restore ${kind} ${object.metadata.name}: its controller is still migrating it`);
    }
    const { stale, given, waiting } = await pastOf(run, kind, existing);
    const applied = await write(object, { ...(waiting ? { operation: "wait-for-state" } : {}), stale });
    if (given !== undefined) await giveState(applied, { state: given }, true);
    else if (waiting) await giveState(applied, await kept(run, object), stale);
    // The one that is recorded may be older than what a provider keeps.
    if (kind === "BackupEntry") await protect(run);
    const marks = given && givenMark(run);
    return ask(applied, { kind, group, extensions: run.extensions }, { operation: "restore", ...(marks && { marks }) });
  };

  return {
    /** Migrates every existing object, wanted or not, so that no controller acts on it here; skips migrated ones. */
    async migrate(run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose): Promise<WaitTarget[]> {
      const existing = (await listExtensionObjects(seedClient, run, kind)).filter((object) =>
        isOf(kind, object, { run, purpose, operation: "migrate" }),
      );
      const acting = existing.filter((object) => !hasMigrated(object));
      const group = waits.group(step, acting.length);
      return Promise.all(acting.map((object) => ask(object, { kind, group }, { operation: "migrate" })));
    },

    /**
     * An object that is new in this seed first waits for the state that the garden has kept; a restart between any two
     * of these writes finds it waiting still. One that was here all along is asked to take up again what it left.
     */
    async restore(run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose): Promise<WaitTarget[]> {
      const objects = await wanted(run, kind, purpose);
      const group = waits.group(step, objects.length);
      return Promise.all(objects.map((object) => restoreOne(run, object, kind, group)));
    },
  };
}

/** What a controller is asked for, and what its object is to say besides. */
interface Request {
  readonly operation: "migrate" | "restore";
  readonly marks?: Readonly<Record<string, string>>;
}

/** What is asked of it now would be taken for what it is about to answer. */
const isMigrating = (object: ExtensionLike): boolean => {
  const { type, state } = object.status?.lastOperation ?? {};
  return asked(object) === "migrate" && type === "Migrate" && state === "Processing";
};

/**
 * Whether the object was left by this seed when it led before, and another one has led since: then the epoch before this
 * one was that seed's. The annotation remembers it, because the object is of this epoch as soon as it is written.
 */
function isStale({ metadata: { annotations = {} } }: KubeObject, { epoch, migration }: ShootRun): boolean {
  if (migration === undefined || migration.returning) return false;
  return annotations[STALE_ANNOTATION] === "true" || writtenEpoch(annotations) <= epoch - 2;
}

const asked = ({ metadata }: KubeObject): string | undefined => metadata.annotations?.[OPERATION_ANNOTATION];
