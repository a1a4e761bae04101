import { CONFIRM_DELETION_ANNOTATION, EXPIRATION_ANNOTATION } from "../api/annotations.ts";
import { readQuotas, type BoundShoot } from "../api/core/quotas-of.ts";
import { Shoot, type Quota } from "../api/index.ts";
import {
  createObjectController,
  defineKind,
  inBrief,
  refOf,
  typeMeta,
  type EventRecorder,
  type KubeClient,
} from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The garden; times are ms. */
export interface ShootLifetimeDeps {
  readonly gardenClient: KubeClient;
  readonly events: Pick<EventRecorder, "record">;
  readonly log: Logger;
  /** How often it is looked whether Quotas have changed; an hour unless told otherwise. */
  readonly period?: number;
  readonly now?: () => number;
}

/**
 * Ends the lives of Shoots whose Quotas bound them (`clusterLifetimeDays`): writes onto each when it ends, and deletes it
 * then. A user who may change that annotation gives the Shoot more days, as many as the Quota has (Gardener: the Shoot Quota controller).
 */
export function createShootLifetimeController(deps: ShootLifetimeDeps) {
  const { gardenClient, events, log, period = HOUR, now = Date.now } = deps;

  /** Only on the Shoot as it was seen: a user may have given it more days meanwhile. */
  const write = (shoot: BoundShoot, annotations: Readonly<Record<string, string | null>>) => {
    const { uid, resourceVersion } = shoot.metadata;
    return gardenClient.patch(refOf(shoot), { metadata: { uid, resourceVersion, annotations } });
  };

  const end = async (shoot: BoundShoot, expiration: string) => {
    const { name, namespace } = shoot.metadata;
    const { uid = "", resourceVersion = "" } = (await write(shoot, { [CONFIRM_DELETION_ANNOTATION]: "true" })).metadata;
    await gardenClient.remove(refOf(shoot), { uid, resourceVersion });
    const note = `its life ended at ${expiration}, which a Quota of its credentials has set`;
    events.record({ regarding: shoot, type: "Warning", reason: "LifetimeExpired", action: "Delete", note });
    log.info({ shoot: `${namespace}/${name}`, expiration }, "Shoot has expired: deleted it");
  };

  return createObjectController({
    name: "shoot-lifetime",
    client: gardenClient,
    kind: Bound,
    keep: essential,
    log,
    async reconcile(shoot) {
      if (shoot.metadata.deletionTimestamp !== undefined) return undefined;
      const known = shoot.metadata.annotations?.[EXPIRATION_ANNOTATION];
      const expiration = expirationOf(shoot, await readQuotas(gardenClient, shoot));
      if (expiration !== known) {
        await write(shoot, { [EXPIRATION_ANNOTATION]: expiration ?? null });
        return undefined; // it comes back as it is now
      }
      if (expiration === undefined) return { requeueAfter: period };
      const left = Date.parse(expiration) - now();
      if (left > 0) return { requeueAfter: Math.min(left, period) };
      await end(shoot, expiration);
      return { requeueAfter: period };
    },
  });
}

/** Shoots, of which this is all that is looked at: a garden has thousands. */
const Bound = defineKind<BoundShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

const essential = ({ apiVersion, kind, metadata, spec }: BoundShoot): BoundShoot => {
  const { credentialsBindingName, secretBindingName } = spec;
  const bound = { apiVersion, kind, metadata, spec: { credentialsBindingName, secretBindingName } };
  return inBrief(bound, [EXPIRATION_ANNOTATION]);
};

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** When the Shoot's life ends, in RFC 3339: what is written on it, else what the shortest of its Quotas says. Pure. */
export function expirationOf({ metadata }: Pick<BoundShoot, "metadata">, quotas: readonly Quota[]): string | undefined {
  const days = Math.min(...quotas.map(({ spec }) => spec.clusterLifetimeDays ?? Infinity));
  if (days === Infinity) return undefined;
  const written = metadata.annotations?.[EXPIRATION_ANNOTATION] ?? "";
  if (!Number.isNaN(Date.parse(written))) return written;
  const created = Date.parse(metadata.creationTimestamp ?? "");
  return Number.isNaN(created) ? undefined : new Date(created + days * DAY).toISOString().replace(/\.\d+Z$/, "Z");
}
