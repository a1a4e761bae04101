import { CANCEL_MIGRATION_ANNOTATION, IGNORE_ANNOTATION } from "../../api/annotations.ts";
import { Shoot } from "../../api/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import { now, refTo, type KubeClient, type MergePatch } from "../../kube/index.ts";
import { describeRecovery, isTakenFromRecord, type Place, type Recovery } from "./recovery.ts";

/** The lease of a Shoot whose status was lost, in s; the next Reconcile makes it longer where it is. */
const LEASE_SECONDS = 60;

/**
 * Writes the leader of the record into the Shoot's status, and its Seed into the spec. Each write is refused when the Shoot
 * has changed since it was read. No operation begins in between: the Shoot is ignored meanwhile, and stays so where it was
 * before. Called again, it finishes what was cut off.
 */
export async function recover(gardenClient: KubeClient, shoot: Shoot, recovery: Recovery): Promise<Shoot> {
  const { namespace, name, uid } = shoot.metadata;
  const ref = refTo(Shoot, { namespace, name });
  const { leader } = recovery;
  const wasIgnored = shoot.metadata.annotations?.[IGNORE_ANNOTATION] === "true";
  const annotate = (of: Shoot, annotations: Annotations, more: MergePatch = {}) => {
    const { resourceVersion } = of.metadata;
    return gardenClient.patch(ref, { metadata: { uid, resourceVersion, annotations }, ...more });
  };

  const ignored = wasIgnored ? shoot : await annotate(shoot, { [IGNORE_ANNOTATION]: "true" });
  const { resourceVersion } = ignored.metadata;
  const led = isTakenFromRecord(ignored.status, leader)
    ? ignored
    : await gardenClient.patch(
        ref,
        { metadata: { resourceVersion }, status: statusOf(ignored, recovery) },
        { subresource: "status" },
      );
  // Admission lets a Shoot that is leaving go back to the Seed that leads, with this annotation and in no other way.
  const placed =
    led.spec.seedName === leader.seed
      ? led
      : await annotate(led, { [CANCEL_MIGRATION_ANNOTATION]: "true" }, { spec: { seedName: leader.seed } });
  const ignore = wasIgnored ? {} : { [IGNORE_ANNOTATION]: null };
  const cancel = moveOf(placed).is === "returning" ? {} : { [CANCEL_MIGRATION_ANNOTATION]: null };
  return await annotate(placed, { ...ignore, ...cancel });
}

type Annotations = Readonly<Record<string, string | null>>;

/** Fields that were said of the earlier leader go; `lastOperation` decides which operation is next. */
function statusOf({ status = {} }: Shoot, { record, leader, place }: Recovery): MergePatch {
  const { seed, epoch } = leader;
  const { seeds = [], leadership } = status;
  const previousSeed = place.is === "arriving" ? place.from : null;
  const held = [
    ...seeds,
    ...(leadership ? [leadership.seed] : []),
    ...(previousSeed === null ? [] : [previousSeed]),
    seed,
  ];
  return {
    seedName: seed,
    seeds: [...new Set(held)],
    leadership: {
      ...{ record, seed, epoch, previousSeed, since: null, takeover: null },
      leaseSeconds: leadership?.leaseSeconds ?? LEASE_SECONDS,
      leaving: place.is === "leaving" ? epoch : null,
    },
    lastErrors: null,
    lastOperation: {
      ...{ type: operations[place.is], state: "Pending", progress: 0 },
      ...{ description: describeRecovery(leader), lastUpdateTime: now() },
    },
  };
}

const operations = { whole: "Reconcile", arriving: "Restore", leaving: "Migrate" } as const satisfies Record<
  Place["is"],
  string
>;
