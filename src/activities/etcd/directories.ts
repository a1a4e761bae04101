import { ETCD_DIRECTORIES_ANNOTATION, ETCD_REPLACED_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { ETCDS, USUAL_ETCD_DIRECTORY, type ControlPlaneContext } from "../../components/index.ts";
import { StatefulSet, type KubeClient } from "../../kube/index.ts";
import { etcdClaimRef } from "../backup/etcd-claim.ts";

/** What the claims of etcds say of their data: the folders that have them, and what they were replaced by last. */
export async function readEtcdData(
  seedClient: Pick<KubeClient, "read">,
  { technicalID }: Pick<ShootRun, "technicalID">,
): Promise<Pick<ControlPlaneContext, "etcdDirectories" | "etcdReplacements">> {
  const claims = await Promise.all(ETCDS.map((role) => seedClient.read(etcdClaimRef(technicalID, role))));
  const byRole = (read: (claim: KubeObject | undefined) => string | undefined) =>
    Object.fromEntries(
      ETCDS.flatMap((role, index) => {
        const found = read(claims[index]);
        return found === undefined ? [] : [[role, found]];
      }),
    );
  return {
    etcdDirectories: byRole((claim) => namedOn(claim)[0]),
    etcdReplacements: byRole((claim) => claim?.metadata.annotations?.[ETCD_REPLACED_ANNOTATION]),
  };
}

/** The versions in which the StatefulSets of a Shoot's etcds are, by their names. Read them before the claims of which new ones are made. */
export async function readEtcdVersions(
  seedClient: Pick<KubeClient, "list">,
  { technicalID: namespace }: Pick<ShootRun, "technicalID">,
): Promise<ReadonlyMap<string, string | undefined>> {
  const sets = await seedClient.list(StatefulSet, { namespace, labelSelector: "app=etcd-statefulset" });
  return new Map(sets.map(({ metadata: { name, resourceVersion } }) => [name, resourceVersion]));
}

/** The object, which is written as long as it is in the version that is known of it. */
export const inVersion =
  (versions: ReadonlyMap<string, string | undefined>) =>
  (object: KubeObject): KubeObject => {
    const resourceVersion = object.kind === "StatefulSet" ? versions.get(object.metadata.name) : undefined;
    return resourceVersion === undefined ? object : { ...object, metadata: { ...object.metadata, resourceVersion } };
  };

/** The folders of a claim's volume that have, or have had, an etcd's data; the first one has them now. */
export function directoriesOf(claim: KubeObject): string[] {
  const named = namedOn(claim);
  return named.length === 0 ? [USUAL_ETCD_DIRECTORY] : named;
}

function namedOn(claim: KubeObject | undefined): string[] {
  const { [ETCD_DIRECTORIES_ANNOTATION]: text = "" } = claim?.metadata.annotations ?? {};
  return text.split(",").filter((name) => /^[\w-][\w.-]*$/.test(name));
}
