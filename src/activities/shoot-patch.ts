import type { Shoot } from "../api/index.ts";
import type { ShootRef, ShootRun } from "../api/shoot-run.ts";
import { isConflict, isNotFound, type KubeClient, type MergePatch } from "../kube/index.ts";
import { shootType } from "./shoot-view.ts";
import { Superseded } from "./superseded.ts";

/** Who writes: a flow's run is refused once a later leader's epoch has begun, what writes without an epoch never is. */
export type Writer = ShootRef & Partial<Pick<ShootRun, "epoch" | "operation" | "migration">>;

/** The Shoot of this uid; undefined when it is gone, or a later one has taken its name. */
export async function readShoot(garden: KubeClient, ref: ShootRef): Promise<Shoot | undefined> {
  const shoot = await garden.read<Shoot>({ ...shootType, namespace: ref.namespace, name: ref.name });
  return shoot?.metadata.uid === ref.uid ? shoot : undefined;
}

/** Merges into the status of the Shoot of this uid; does nothing when it is gone. */
export function patchShootStatus(garden: KubeClient, ref: Writer, status: MergePatch): Promise<void> {
  return patchVersion(garden, ref, () => ({ status }), "status");
}

/** Merges into the status what is made of it as it is; nothing when there is nothing to change. */
export function changeShootStatus(
  garden: KubeClient,
  ref: Writer,
  change: (status: NonNullable<Shoot["status"]>) => MergePatch | undefined,
): Promise<void> {
  const patch = ({ status = {} }: Shoot) => {
    const changed = change(status);
    return changed && { status: changed };
  };
  return patchVersion(garden, ref, patch, "status");
}

/** Makes these the finalizers of the Shoot of this uid; does nothing when it is gone, or has them already. */
export function patchFinalizers(
  garden: KubeClient,
  ref: Writer,
  change: (finalizers: readonly string[]) => readonly string[],
): Promise<void> {
  return patchVersion(garden, ref, ({ metadata: { finalizers = [] } }) => {
    const changed = change(finalizers);
    return changed.length === finalizers.length ? undefined : { metadata: { finalizers: changed } };
  });
}

/**
 * API servers ignore a uid in a patch of the status, so it is the version that was read that keeps us from writing into
 * a later Shoot of the same name. Others may write at the same time, but not forever.
 */
async function patchVersion(
  garden: KubeClient,
  ref: Writer,
  change: (shoot: Shoot) => MergePatch | undefined,
  subresource?: "status",
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const shoot = await readShoot(garden, ref);
    if (shoot === undefined) return;
    refuseLate(shoot, ref);
    const patch = change(shoot);
    if (patch === undefined) return;
    const { namespace, name, resourceVersion } = shoot.metadata;
    const versioned = { ...patch, metadata: { ...(patch["metadata"] as object | undefined), resourceVersion } };
    try {
      await garden.patch(
        { ...shootType, namespace, name },
        versioned,
        subresource === undefined ? {} : { subresource },
      );
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

const MOST_ATTEMPTS = 5;

/** Held against the very version that is written: whoever begins an epoch meanwhile makes this write a conflict. */
function refuseLate({ status, metadata }: Shoot, run: Writer): void {
  const { leadership, lastOperation } = status ?? {};
  if (run.epoch === undefined || leadership === undefined || leadership.epoch <= run.epoch) return;
  // The migration that has begun the epoch says how it ended, until the next operation says something.
  const ended = run.operation === "Migrate" && leadership.seed === run.migration?.destination;
  if (ended && lastOperation?.type === "Migrate") return;
  throw new Superseded(
    `cannot write Shoot ${metadata.namespace}/${metadata.name} in epoch ${run.epoch}: ${leadership.seed} leads in epoch ${leadership.epoch}`,
  );
}
