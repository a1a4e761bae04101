import { isOlder } from "../../api/core/domain-reservation.ts";
import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import { DomainReservation, type Shoot } from "../../api/index.ts";
import { technicalIDOf } from "../../api/names.ts";
import type { NamespacedMeta } from "../../api/schema/meta.ts";
import { clash } from "../../dns/domain.ts";
import { inBrief, type KubeClient } from "../../kube/index.ts";
import type { GardenShoots, NamedShoot } from "./garden-shoots.ts";

/** What a Shoot's names are judged by: its project's name, and the garden's other Shoots. */
export interface NameJudgement {
  readonly project: string;
  readonly shoots: GardenShoots;
}

/**
 * Why a Shoot cannot begin under its names: another Shoot has them, which was written at the same moment, so that admission judged
 * each without the other. Here both are stored, and so one sees the other; what has begun once is not asked again. When neither of
 * two has begun, neither does until one is deleted.
 */
export async function findTakenName(
  client: KubeClient,
  shoot: Shoot,
  { project, shoots }: NameJudgement,
): Promise<string | undefined> {
  if (shoot.status?.technicalID !== undefined || shoot.metadata.deletionTimestamp !== undefined) return undefined;
  const all = await shoots.asOf(shoot);
  return (await takenTechnicalID(client, shoot, { project, all })) ?? (await takenDomain(client, shoot, all));
}

async function takenTechnicalID(
  client: KubeClient,
  { metadata }: Shoot,
  { project, all }: { readonly project: string; readonly all: readonly NamedShoot[] },
): Promise<string | undefined> {
  const id = technicalIDOf(project, metadata.name);
  for (const { metadata: other, status } of all) {
    if (other.name !== metadata.name || other.namespace === metadata.namespace) continue;
    const taken = status?.technicalID ?? technicalIDOf(await projectNameOf(client, other.namespace), other.name);
    if (taken === id)
      return `metadata.name: Shoot ${nameOf(other)} has the same technical ID, ${id}: delete one of the two, and create it under another name`;
  }
  return undefined;
}

const projectNameOf = async (client: KubeClient, namespace: string): Promise<string> =>
  (await readNamespaceProject(client, namespace)).name;

async function takenDomain(
  client: KubeClient,
  { metadata, spec }: Shoot,
  all: readonly NamedShoot[],
): Promise<string | undefined> {
  const domain = spec.dns?.domain;
  if (domain === undefined) return undefined;
  const own = { domain, namespace: metadata.namespace };
  const isSelf = ({ namespace, name }: Key) => namespace === metadata.namespace && name === metadata.name;
  const reservations = await client.list(DomainReservation, { keep: (one) => inBrief(one) });
  const kept = reservations.find((one) => isSelf(one.spec.shootRef) && one.spec.domain === domain);
  const owners = [
    ...all.map(({ metadata: owner, spec: { dns } }) => ({ owner, domain: dns?.domain })),
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
