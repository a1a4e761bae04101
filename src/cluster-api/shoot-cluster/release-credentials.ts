import { CredentialsBinding, Shoot } from "../../api/index.ts";
import { INFRASTRUCTURE_ID_LABEL } from "../../api/labels.ts";
import { infrastructureCredentialsName } from "../../api/names.ts";
import type { KubeObject, NamespacedMeta } from "../../api/schema/meta.ts";
import { defineKind, inBrief, refOf, Secret, typeMeta, unlessGone, type KubeClient } from "../../kube/index.ts";
import { isOf } from "./credentials.ts";
import type { Holder } from "./holder.ts";

/**
 * Deletes what the garden has of a holder's credentials; true once nothing is left. Where a Shoot uses them still, as one does that
 * its Cluster has left behind, they stay and are the project's from then on.
 */
export async function releaseCredentials(garden: KubeClient, holder: Holder): Promise<boolean> {
  const { namespace } = holder.shoot;
  const name = infrastructureCredentialsName(holder.shoot.name);
  const found = [
    await garden.read(CredentialsBinding, { namespace, name }),
    await garden.read(Secret, { namespace, name }),
  ];
  const own = found.filter((one) => one !== undefined).filter((one) => isOf(one, holder));
  if (own.length === 0) return true;
  const shoots = await garden.list(UsingShoot, { namespace, keep: bindingOnly });
  const isUsed = shoots.some(({ spec }) => spec.credentialsBindingName === name);
  for (const object of own) {
    const { uid } = object.metadata;
    const labels = { [INFRASTRUCTURE_ID_LABEL]: null };
    if (isUsed) await unlessGone(garden.patch(refOf(object), { metadata: { uid, labels } }));
    else await garden.remove(refOf(object), uid === undefined ? {} : { uid });
  }
  return isUsed;
}

/** Of a Shoot, the binding that it uses: a project has many, with hundreds of kilobytes for their provider. */
interface UsingShoot extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: Pick<Shoot["spec"], "credentialsBindingName">;
}

const UsingShoot = defineKind<UsingShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

const bindingOnly = ({ apiVersion, kind, metadata, spec: { credentialsBindingName } }: UsingShoot): UsingShoot =>
  inBrief({ apiVersion, kind, metadata, spec: { credentialsBindingName } });
