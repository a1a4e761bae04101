import { readNamespaceProject } from "../api/core/namespace-project.ts";
import { DomainReservation } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { judge, type Webhook } from "./review.ts";
import { reservationCauses } from "./shoot/domain.ts";

/**
 * Judges DomainReservations as the Shoot that they are for would be judged, were it written with that domain now. Two that overlap
 * and are written in the same moment are judged without each other, as two Shoots are; the older counts then.
 */
export function createDomainReservationValidator({ client }: { client: KubeClient }): Webhook {
  return async ({ object }) => {
    const { domain, shootRef: shoot } = DomainReservation.parse(object).spec;
    const { name: project } = await readNamespaceProject(client, shoot.namespace);
    return judge(await reservationCauses(client, { field: "spec.domain", domain, shoot, project }));
  };
}
