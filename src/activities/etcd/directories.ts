import { ETCD_DIRECTORIES_ANNOTATION, ETCD_REPLACED_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { ETCDS, USUAL_ETCD_DIRECTORY, type ControlPlaneContext } from "../../components/index.ts";
import type { KubeClient } from "../../kube/index.ts";
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

/** The folders of a claim's volume that have, or have had, an etcd's data; the first one has them now. */
export function directoriesOf(claim: KubeObject): string[] {
  const named = namedOn(claim);
  return named.length === 0 ? [USUAL_ETCD_DIRECTORY] : named;
}

function namedOn(claim: KubeObject | undefined): string[] {
  const { [ETCD_DIRECTORIES_ANNOTATION]: text = "" } = claim?.metadata.annotations ?? {};
  return text.split(",").filter((name) => /^[\w-][\w.-]*$/.test(name));
}
