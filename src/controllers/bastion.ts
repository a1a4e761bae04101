import { OPERATION_ANNOTATION } from "../api/annotations.ts";
import { Shoot, ShootBastion } from "../api/index.ts";
import { createObjectController, inBrief, now as timeOf, refOf, refTo, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The garden; times are ms. */
export interface BastionDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  /** How often it is looked whether a Bastion's Shoot is still there; half a minute unless told otherwise. */
  readonly period?: number;
  readonly now?: () => number;
}

/**
 * Ends Bastions: an hour after they were last asked to stay (annotation `gardener.cloud/operation=keepalive`), after a day
 * at the latest, and when their Shoot goes, moves or closes its machines (Gardener: controller-manager's Bastion controller).
 */
export function createBastionController({ gardenClient, log, period = 30_000, now = Date.now }: BastionDeps) {
  const keepAlive = async (bastion: ShootBastion) => {
    const time = now();
    const created = Date.parse(bastion.metadata.creationTimestamp ?? "") || time;
    const expiry = Math.min(time + LIFE, created + LONGEST_LIFE);
    const status = {
      lastHeartbeatTimestamp: timeOf(new Date(time)),
      expirationTimestamp: timeOf(new Date(expiry)),
    };
    // Only of the Bastion as it was seen: a request that has come since is not taken away with the one before.
    const { resourceVersion } = bastion.metadata;
    const told = await gardenClient.patch(
      refOf(bastion),
      { metadata: { resourceVersion }, status },
      { subresource: "status" },
    );
    if (!isAskedToStay(bastion)) return;
    const annotations = { [OPERATION_ANNOTATION]: null };
    await gardenClient.patch(refOf(bastion), {
      metadata: { resourceVersion: told.metadata.resourceVersion, annotations },
    });
  };

  return createObjectController({
    name: "bastion",
    client: gardenClient,
    kind: ShootBastion,
    keep: (bastion) => inBrief(bastion, [OPERATION_ANNOTATION]),
    log,
    async reconcile(bastion) {
      const { name, namespace, deletionTimestamp, uid = "", resourceVersion = "" } = bastion.metadata;
      if (deletionTimestamp !== undefined) return undefined;
      const shoot = await gardenClient.read(refTo(Shoot, { name: bastion.spec.shootRef.name, namespace }));
      const reason = endOf(bastion, shoot, now());
      if (reason !== undefined) {
        log.info({ bastion: `${namespace}/${name}`, reason }, "Bastion ends");
        // Only as it was seen: it may have been asked to stay, or made anew, since.
        await gardenClient.remove(refOf(bastion), { uid, resourceVersion });
        return undefined;
      }
      if (bastion.status?.expirationTimestamp === undefined || isAskedToStay(bastion)) await keepAlive(bastion);
      return { requeueAfter: period };
    },
  });
}

const HOUR = 3_600_000;
const LIFE = HOUR;
const LONGEST_LIFE = 24 * HOUR;

const isAskedToStay = ({ metadata }: ShootBastion): boolean =>
  metadata.annotations?.[OPERATION_ANNOTATION] === "keepalive";

/** Why a Bastion is not to be any more; undefined while it is. Pure. */
export function endOf({ spec, metadata, status }: ShootBastion, shoot: Shoot | undefined, now: number) {
  const reason = reasonOf(shoot, spec.seedName);
  if (reason !== undefined) return reason;
  if (now > Date.parse(metadata.creationTimestamp ?? "") + LONGEST_LIFE) return "it is a day old";
  const expiry = Date.parse(status?.expirationTimestamp ?? "");
  return now > expiry && metadata.annotations?.[OPERATION_ANNOTATION] !== "keepalive" ? "it has expired" : undefined;
}

/** Why a Shoot has no Bastions any more. */
function reasonOf(shoot: Shoot | undefined, seedName: string | undefined): string | undefined {
  if (shoot === undefined) return "its Shoot is gone";
  if (shoot.metadata.deletionTimestamp !== undefined) return "its Shoot is being deleted";
  if (shoot.spec.provider.workersSettings?.sshAccess?.enabled === false) return "its Shoot's machines serve no SSH";
  return seedName !== undefined && shoot.spec.seedName !== seedName ? "its Shoot moves to another Seed" : undefined;
}
