import { GARDENER_FINALIZER } from "../../api/names.ts";
import {
  CANCEL_MIGRATION_ANNOTATION,
  FORCE_TAKEOVER_ANNOTATION,
  OPERATION_ANNOTATION,
  TASKS_ANNOTATION,
} from "../../api/annotations.ts";
import { Shoot } from "../../api/index.ts";
import { hasArrived, moveOf } from "../../api/placement/move.ts";
import { shootRequests, unanswered, type ShootRequest } from "../../api/requests.ts";
import type { ShootRef, ShootRun, StepFailure } from "../../api/shoot/run.ts";
import {
  now,
  readClusterIdentity,
  refTo,
  type JsonPatchOperation,
  type KubeClient,
  type MergePatch,
} from "../../kube/index.ts";
import type { OperationStatus } from "../index.ts";
import { beginning, lastOperation } from "./operation-beginning.ts";
import { changeOperationStatus, changeShoot, changeShootStatus, patchFinalizers, patchShootStatus } from "./patch.ts";
import { beginningStory, progressStory } from "./story.ts";
import type { Tell } from "./tell.ts";

/**
 * The one writer of a Shoot's operation status. A Shoot that is gone needs no status: writing then does nothing. What changes
 * is told before it is written, or a worker that died in between would leave it untold.
 */
export function createShootStatus(gardenClient: KubeClient, tell: Tell = () => Promise.resolve()) {
  const refOf = (ref: ShootRef) => refTo(Shoot, { namespace: ref.namespace, name: ref.name });
  const patchStatus = (ref: ShootRef, status: MergePatch) => patchShootStatus(gardenClient, ref, status);

  /** Removes an annotation, or leaves the rest of it, if it still has this value: a later request stays. */
  const takeAway = async (ref: ShootRef, annotation: string, value: string, rest?: string) => {
    const path = `/metadata/annotations/${annotation.replace("/", "~1")}`;
    const patch: JsonPatchOperation[] = [
      { op: "test", path: "/metadata/uid", value: ref.uid },
      { op: "test", path, value },
      rest === undefined ? { op: "remove", path } : { op: "replace", path, value: rest },
    ];
    await unlessChanged(gardenClient.patch(refOf(ref), patch));
  };

  /** What was said of one migration must not count for the next one: asked of the very version that it is taken from. */
  const forget = (run: ShootRun, names: readonly string[], when: (shoot: Shoot) => boolean) =>
    changeShoot(gardenClient, run, (shoot) => {
      const given = names.filter((name) => shoot.metadata.annotations?.[name] !== undefined);
      if (given.length === 0 || !when(shoot)) return undefined;
      return { metadata: { annotations: Object.fromEntries(given.map((name) => [name, null])) } };
    });

  return {
    /** Finalizer first, so that nothing can exist for a Shoot that is already gone; the request is taken away last. */
    async begin(run: ShootRun, request: string | undefined): Promise<void> {
      if (run.operation !== "Delete")
        await patchFinalizers(gardenClient, run, (finalizers) => [...new Set([...finalizers, GARDENER_FINALIZER])]);
      if (run.operation === "Migrate") await forget(run, [CANCEL_MIGRATION_ANNOTATION], isWanted(run));
      // An attempt that slept through a whole Restore must not begin it again: nothing is left in the old seed.
      await changeShootStatus(gardenClient, run, async (before, shoot) => {
        if (run.operation === "Restore" && hasArrived(shoot)) return undefined;
        await tell(run, beginningStory(run, before));
        return beginning(run, shoot, await readClusterIdentity(gardenClient));
      });
      if (request !== undefined) await this.acknowledge(run, request);
    },

    /** Only the operation that the Shoot is in may say how it gets on, and not after it has said that it succeeded. */
    async write(run: ShootRun, status: OperationStatus): Promise<void> {
      let ours = false;
      let wasTold = false;
      await changeOperationStatus(gardenClient, run, async (before, { metadata }) => {
        ours = before.lastOperation?.type === run.operation;
        wasTold = migrationAnnotations.some((name) => metadata.annotations?.[name] !== undefined);
        if (!ours || before.lastOperation?.state === "Succeeded") return undefined;
        await tell(run, progressStory(run, before, status));
        return progressOf(run, status);
      });
      if (!ours || status.state !== "Succeeded") return;
      if (run.tasks !== undefined) await takeAway(run, TASKS_ANNOTATION, run.tasks);
      if (run.operation !== "Migrate" && wasTold)
        await forget(run, migrationAnnotations, (shoot) => moveOf(shoot).is === "settled");
    },

    /** Forgets a seed that holds nothing of the Shoot any more; never the one that leads, or that is to lead. */
    async leave({ namespace, name, uid, seedName: left }: ShootRun): Promise<void> {
      // No epoch: cleaning up may take longer than the next migration.
      await changeShootStatus(gardenClient, { namespace, name, uid }, ({ seedName, seeds = [] }, { spec }) =>
        [seedName, spec.seedName].includes(left) ? undefined : { seeds: seeds.filter((one) => one !== left) },
      );
    },

    /** Why no operation can begin; without a code it is no error. Says it once: a Shoot that waits is not written again and again. */
    async report(ref: ShootRef, { message: description, codes }: StepFailure): Promise<void> {
      await changeShootStatus(gardenClient, ref, ({ lastOperation: last }, shoot) => {
        if (last?.description === description) return undefined;
        return {
          lastOperation: lastOperation(waitingType(shoot), { state: "Pending", progress: 0, description }),
          lastErrors: codes.length === 0 ? null : [{ description, codes, lastUpdateTime: now() }],
        };
      });
    },

    /** Takes away what of a request is answered, unless a user has replaced it meanwhile; an operation answers all. */
    acknowledge: (ref: ShootRef, request: string, answered: readonly ShootRequest[] = shootRequests): Promise<void> =>
      takeAway(ref, OPERATION_ANNOTATION, request, unanswered(request, answered)),

    /** Writes Succeeded, then removes the finalizer: the last status that a watch sees is Succeeded. */
    async release(ref: ShootRef): Promise<void> {
      await patchStatus(ref, {
        lastErrors: null,
        lastOperation: lastOperation("Delete", {
          state: "Succeeded",
          progress: 100,
          description: "Delete Shoot finished",
        }),
      });
      await patchFinalizers(gardenClient, ref, (finalizers) => finalizers.filter((one) => one !== GARDENER_FINALIZER));
    },
  };
}

/** Annotations with which an operator cancels a running migration, or takes the Shoot over. */
const migrationAnnotations = [CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION];

/** Whether the Shoot's spec still names the migration's destination: an operator has not called the Shoot back. */
const isWanted =
  ({ migration }: ShootRun) =>
  ({ spec }: Shoot): boolean =>
    spec.seedName === migration?.destination;

/**
 * What a Shoot waits to do. It keeps the operation that is unfinished, and a Migrate which Restore has to follow; one that
 * has succeeded is not to be done again, least of all a Restore from a seed that holds nothing any more.
 */
function waitingType({ metadata, status }: Shoot): ShootRun["operation"] {
  const { type, state } = status?.lastOperation ?? {};
  if (type !== undefined && (type === "Migrate" || state !== "Succeeded")) return type;
  if (metadata.deletionTimestamp !== undefined) return "Delete";
  return type === undefined ? "Create" : "Reconcile";
}

/** A Shoot sleeps once the operation that puts it to sleep has ended; a Migrate leaves that to the Restore after it. */
const progressOf = ({ operation, hibernated }: ShootRun, status: OperationStatus): MergePatch => ({
  ...(status.state === "Succeeded" && operation !== "Migrate" ? { hibernated } : {}),
  lastOperation: lastOperation(operation, status),
  lastErrors: status.lastErrors.length > 0 ? status.lastErrors : null,
});

/** The API server answers a failed `test` of a JSON patch with 422. */
const unlessChanged = (call: Promise<unknown>): Promise<void> =>
  call.then(
    () => undefined,
    (error: unknown) => {
      const status = error instanceof Error && "status" in error ? error.status : undefined;
      if (status !== 404 && status !== 422) throw error;
    },
  );
