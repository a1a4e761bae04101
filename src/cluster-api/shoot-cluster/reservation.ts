import { DomainReservation } from "../../api/index.ts";
import { INFRASTRUCTURE_ID_LABEL } from "../../api/labels.ts";
import { isAlreadyExists, refOf, typeMeta, type KubeClient } from "../../kube/index.ts";
import { isRefusal, type Obstacle } from "../objects/obstacle.ts";
import type { Holder } from "./holder.ts";

/** A domain, and whose it is to be. */
export interface Claim extends Holder {
  readonly domain: string;
}

/**
 * Reserves a domain in the garden, unless it is reserved already; returns what stands against that. One that operators have made
 * for this Shoot by hand will do.
 */
export async function reserveDomain(
  garden: KubeClient,
  claim: Claim,
  present: DomainReservation | undefined,
): Promise<Obstacle | undefined> {
  if (present !== undefined) return whyTaken(present, claim);
  try {
    return whyTaken(await garden.create(reservationOf(claim)), claim);
  } catch (error) {
    if (isRefusal(error)) return { reason: "DomainRefused", message: error.message };
    if (!isAlreadyExists(error)) throw error;
    const found = await garden.read(DomainReservation, { name: claim.domain });
    return found && whyTaken(found, claim);
  }
}

/** Gives a domain back, if it is this holder's. Operators take away themselves what they have made by hand. */
export async function releaseDomain(garden: KubeClient, claim: Claim): Promise<void> {
  const found = await garden.read(DomainReservation, { name: claim.domain });
  if (found === undefined || whyTaken(found, claim) !== undefined || idOf(found) === undefined) return;
  const { uid } = found.metadata;
  await garden.remove(refOf(found), uid === undefined ? {} : { uid });
}

/** Who has a domain, if it is another; undefined for one's own. Pure. */
export function whyTaken(found: DomainReservation, { domain, id, shoot }: Claim): Obstacle | undefined {
  const { namespace, name } = found.spec.shootRef;
  const theirs = idOf(found);
  if (namespace === shoot.namespace && name === shoot.name && (theirs === undefined || theirs === id)) return undefined;
  const another = namespace === shoot.namespace && name === shoot.name ? " of another Cluster" : "";
  return { reason: "DomainTaken", message: `${domain} is reserved for Shoot ${namespace}/${name}${another}` };
}

const idOf = ({ metadata }: DomainReservation): string | undefined => metadata.labels?.[INFRASTRUCTURE_ID_LABEL];

const reservationOf = ({ domain, id, shoot: { namespace, name } }: Claim): DomainReservation => ({
  ...typeMeta(DomainReservation),
  metadata: { name: domain, labels: { [INFRASTRUCTURE_ID_LABEL]: id } },
  spec: { domain, shootRef: { namespace, name } },
});
