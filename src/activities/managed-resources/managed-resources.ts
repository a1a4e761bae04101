import { IGNORE_RESOURCE_ANNOTATION, STOPPED_ANNOTATION } from "../../api/annotations.ts";
import { ManagedResource } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { refOf, typeMeta, unlessGone, type KubeClient, type MergePatch } from "../../kube/index.ts";
import type { Until, WaitTarget } from "../index.ts";
import { removeAnnotated } from "../teardown/removal.ts";
import type { Waits } from "../waits/waits.ts";
import { isIgnored } from "./health.ts";

/** `seedClient` is the run's fenced client. */
export interface ManagedResourceDeps {
  readonly seedClient: KubeClient;
  readonly waits: Waits;
}

/** What extensions have a resource manager apply for a Shoot: in its namespace in the seed, of whatever class. */
export function createManagedResources({ seedClient, waits }: ManagedResourceDeps) {
  const list = ({ technicalID: namespace }: ShootRun) => seedClient.list(ManagedResource, { namespace });

  return {
    /** Lets resource managers act again on what was stopped under an earlier epoch, or by the fence; what others have them ignore stays so. */
    async release(run: ShootRun): Promise<void> {
      const stopped = ((await unlessGone(list(run))) ?? []).filter(
        ({ metadata }) => metadata.annotations?.[STOPPED_ANNOTATION] === "true",
      );
      const annotations = { [IGNORE_RESOURCE_ANNOTATION]: null, [STOPPED_ANNOTATION]: null };
      for (const one of stopped)
        await unlessGone(seedClient.patch(refOf(one), { metadata: { annotations } } satisfies MergePatch));
    },

    /** Registers the wait for all that is not ignored to be applied, healthy and rolled out. */
    async awaitHealthy(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const managed = (await list(run)).filter((one) => !isIgnored(one));
      const group = waits.group(step, managed.length);
      const targets = managed.map(async (one): Promise<WaitTarget[]> => {
        const target = targetOf(one, "healthy");
        const annotations = group.registration(target, one.metadata.uid);
        return (await unlessGone(seedClient.patch(refOf(one), { metadata: { annotations } }))) ? [target] : [];
      });
      return (await Promise.all(targets)).flat();
    },

    /**
     * Deletes what extensions have left, while the resource manager can still take away what it has applied; where force
     * is used, without waiting for that.
     */
    async remove(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const managed = await list(run);
      const group = waits.group(step, managed.length);
      for (const one of managed) {
        const annotations = group.registration(targetOf(one, "gone"), one.metadata.uid);
        await removeAnnotated(seedClient, one, annotations);
        const { uid } = one.metadata;
        if (run.forced) await unlessGone(seedClient.patch(refOf(one), { metadata: { uid, finalizers: null } }));
      }
      return managed.map((one) => targetOf(one, "gone"));
    },
  };
}

/** In ms: two minutes as upstream, and more where something has to be rolled out on nodes. */
function targetOf({ metadata: { name, namespace } }: ManagedResource, until: Until): WaitTarget {
  return { ...typeMeta(ManagedResource), name, namespace, until, severeAfter: 120_000, deadline: 300_000 };
}
