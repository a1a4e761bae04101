import type { Shoot } from "../api/index.ts";
import type { ShootRef } from "../api/shoot-run.ts";
import { isConflict, isNotFound, type KubeClient, type MergePatch } from "../kube/index.ts";
import { shootType } from "./shoot-view.ts";

/** The Shoot of this uid; undefined when it is gone, or a later one has taken its name. */
export async function readShoot(garden: KubeClient, ref: ShootRef): Promise<Shoot | undefined> {
  const shoot = await garden.read<Shoot>({ ...shootType, namespace: ref.namespace, name: ref.name });
  return shoot?.metadata.uid === ref.uid ? shoot : undefined;
}

/** Merges into the status of the Shoot of this uid; does nothing when it is gone. */
export function patchShootStatus(garden: KubeClient, ref: ShootRef, status: MergePatch): Promise<void> {
  return patchVersion(garden, ref, () => ({ status }), "status");
}

/** Makes these the finalizers of the Shoot of this uid; does nothing when it is gone, or has them already. */
export function patchFinalizers(
  garden: KubeClient,
  ref: ShootRef,
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
  ref: ShootRef,
  change: (shoot: Shoot) => MergePatch | undefined,
  subresource?: "status",
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const shoot = await readShoot(garden, ref);
    if (shoot === undefined) return;
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
