import { isOlder } from "../../api/core/domain-reservation.ts";
import { DomainReservation, Shoot } from "../../api/index.ts";
import { projectOf, technicalIDOf } from "../../api/names.ts";
import type { NamespacedMeta } from "../../api/schema/meta.ts";
import { clash } from "../../dns/domain.ts";
import { Namespace, type KubeClient } from "../../kube/index.ts";

/**
 * Why a Shoot cannot begin under its names: another Shoot has them, which was written at the same moment, so that admission judged
 * each without the other. Here both are stored, and so one sees the other; what has begun once is not asked again. When neither of
 * two has begun, neither does until one is deleted.
 */
export async function findTakenName(client: KubeClient, shoot: Shoot, project: string): Promise<string | undefined> {
  if (shoot.status?.technicalID !== undefined || shoot.metadata.deletionTimestamp !== undefined) return undefined;
  return (await takenTechnicalID(client, shoot, project)) ?? (await takenDomain(client, shoot));
}

async function takenTechnicalID(client: KubeClient, { metadata }: Shoot, project: string): Promise<string | undefined> {
  const id = technicalIDOf(project, metadata.name);
  const sameName = await client.list(Shoot, { fieldSelector: `metadata.name=${metadata.name}` });
  for (const { metadata: other, status } of sameName) {
    if (other.namespace === metadata.namespace) continue;
    const taken = status?.technicalID ?? technicalIDOf(await readProject(client, other.namespace), other.name);
    if (taken === id)
      return `metadata.name: Shoot ${nameOf(other)} has the same technical ID, ${id}: delete one of the two, and create it under another name`;
  }
  return undefined;
}

async function takenDomain(client: KubeClient, { metadata, spec }: Shoot): Promise<string | undefined> {
  const domain = spec.dns?.domain;
  if (domain === undefined) return undefined;
  const own = { domain, namespace: metadata.namespace };
  const isSelf = ({ namespace, name }: Key) => namespace === metadata.namespace && name === metadata.name;
  const [shoots, reservations] = await Promise.all([client.list(Shoot), client.list(DomainReservation)]);
  const kept = reservations.find((one) => isSelf(one.spec.shootRef) && one.spec.domain === domain);
  const owners = [
    ...shoots.map(({ metadata: owner, spec: { dns } }) => ({ owner, domain: dns?.domain })),
    ...reservations
      .filter((one) => kept === undefined || isOlder(one, kept))
      .map((one) => ({ owner: one.spec.shootRef, domain: one.spec.domain })),
  ];
  const other = owners.find(
    (one) =>
      one.domain !== undefined &&
      !isSelf(one.owner) &&
      clash(own, { domain: one.domain, namespace: one.owner.namespace }),
  )?.owner;
  if (other === undefined) return undefined;
  const whose = other.namespace === metadata.namespace ? `Shoot ${nameOf(other)}` : "another project's Shoot";
  return `spec.dns.domain: ${domain} overlaps with the domain of ${whose}: delete one of the two, and create it with another domain`;
}

type Key = Pick<NamespacedMeta, "namespace" | "name">;

const nameOf = ({ namespace, name }: Key): string => `${namespace}/${name}`;

/** The name of the project that a namespace belongs to. */
export async function readProject(client: KubeClient, namespace: string): Promise<string> {
  return projectOf(namespace, (await client.read(Namespace, { name: namespace }))?.metadata.labels);
}
