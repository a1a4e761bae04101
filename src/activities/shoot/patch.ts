import { Shoot } from "../../api/index.ts";
import type { ShootRef, ShootRun } from "../../api/shoot/run.ts";
import { isConflict, isNotFound, refTo, type KubeClient, type MergePatch } from "../../kube/index.ts";
import { Superseded } from "../superseded.ts";

/** The Shoot and the epoch of a write. It is refused once a later epoch has begun; without an epoch it never is. */
export type Writer = ShootRef & Partial<Pick<ShootRun, "epoch" | "operation" | "migration">>;

/** The Shoot of this uid; undefined when it is gone, or a later one has taken its name. */
export async function readShoot(gardenClient: KubeClient, ref: ShootRef): Promise<Shoot | undefined> {
  const shoot = await gardenClient.read(Shoot, { namespace: ref.namespace, name: ref.name });
  return shoot?.metadata.uid === ref.uid ? shoot : undefined;
}

/** Merges into the status of the Shoot of this uid; does nothing when it is gone. */
export function patchShootStatus(gardenClient: KubeClient, ref: Writer, status: MergePatch): Promise<void> {
  return patchVersion(gardenClient, ref, () => ({ status }), { subresource: "status" });
}

/** Merges into the status what is made of the Shoot as it is; nothing when there is nothing to change. */
export function changeShootStatus(gardenClient: KubeClient, ref: Writer, change: StatusChange): Promise<void> {
  return patchVersion(gardenClient, ref, statusPatch(change), { subresource: "status" });
}

/** Does the same for how an operation gets on: the migration that has begun an epoch may still say how it ended. */
export function changeOperationStatus(gardenClient: KubeClient, run: Writer, change: StatusChange): Promise<void> {
  return patchVersion(gardenClient, run, statusPatch(change), { subresource: "status", unless: hasBegunTheNext });
}

type StatusChange = (status: NonNullable<Shoot["status"]>, shoot: Shoot) => Change | Promise<Change>;

/** What is merged into the Shoot; undefined when there is nothing to change. */
type Change = MergePatch | undefined;

const statusPatch = (change: StatusChange) => async (shoot: Shoot) => {
  const changed = await change(shoot.status ?? {}, shoot);
  return changed && { status: changed };
};

/** Merges into the Shoot, but for its status, what is made of it as it is; nothing when there is nothing to change. */
export function changeShoot(gardenClient: KubeClient, ref: Writer, change: (shoot: Shoot) => Change): Promise<void> {
  return patchVersion(gardenClient, ref, change);
}

/** Makes these the finalizers of the Shoot of this uid; does nothing when it is gone, or has them already. */
export function patchFinalizers(
  gardenClient: KubeClient,
  ref: Writer,
  change: (finalizers: readonly string[]) => readonly string[],
): Promise<void> {
  return patchVersion(gardenClient, ref, ({ metadata: { finalizers = [] } }) => {
    const changed = change(finalizers);
    return changed.length === finalizers.length ? undefined : { metadata: { finalizers: changed } };
  });
}

/**
 * API servers ignore a uid in a patch of the status, so it is the version that was read that keeps us from writing into
 * a later Shoot of the same name. Others may write at the same time, but not forever.
 */
async function patchVersion(
  gardenClient: KubeClient,
  ref: Writer,
  change: (shoot: Shoot) => Change | Promise<Change>,
  { subresource, unless = () => false }: HowToPatch = {},
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const shoot = await readShoot(gardenClient, ref);
    if (shoot === undefined) return;
    if (!unless(shoot, ref)) refuseLate(shoot, ref);
    const patch = await change(shoot);
    if (patch === undefined) return;
    const { namespace, name, resourceVersion } = shoot.metadata;
    const versioned = { ...patch, metadata: { ...(patch["metadata"] as object | undefined), resourceVersion } };
    try {
      await gardenClient.patch(
        refTo(Shoot, { namespace, name }),
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

interface HowToPatch {
  readonly subresource?: "status";
  /** When a writer of an earlier epoch is not late. */
  readonly unless?: (shoot: Shoot, run: Writer) => boolean;
}

/** Throws {@link Superseded} in a later epoch; one that begins after this check makes the write a conflict. */
function refuseLate({ status, metadata }: Shoot, run: Writer): void {
  const { leadership } = status ?? {};
  if (run.epoch === undefined || leadership === undefined || leadership.epoch <= run.epoch) return;
  throw new Superseded(
    `cannot write Shoot ${metadata.namespace}/${metadata.name} in epoch ${run.epoch}: ${leadership.seed} leads in epoch ${leadership.epoch}`,
  );
}

/** Whether the run is the migration that has begun the epoch, and no other operation has said anything since. */
const hasBegunTheNext = ({ status }: Shoot, { operation, migration }: Writer): boolean =>
  operation === "Migrate" &&
  status?.lastOperation?.type === "Migrate" &&
  status.leadership?.seed === migration?.destination;
