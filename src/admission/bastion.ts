import { isDeepStrictEqual } from "node:util";
import { Shoot, ShootBastion, type KubeObject } from "../api/index.ts";
import { isNetwork } from "../api/schema/cidr.ts";
import { refOf, type JsonPatchOperation, type KubeClient } from "../kube/index.ts";
import { creatorPatch } from "./creator.ts";
import { judge, type Cause, type Webhook } from "./review.ts";

/**
 * Fills in where a Bastion's Shoot is and who asked for it, and makes the Shoot its owner, so that it goes with the Shoot
 * (Gardener: plugin BastionValidator, which does both at once). The Seed stays the one that makes it, also when the Shoot
 * moves: there it ends.
 */
export function createBastionDefaulter({ client }: { client: KubeClient }): Webhook {
  return async (request) => {
    const { object, oldObject } = request;
    const created = creatorPatch(request);
    const { data: bastion } = ShootBastion.schema.safeParse({ ...object, metadata: { name: "", ...object?.metadata } });
    const shoot = bastion && (await readShoot(client, bastion));
    if (!bastion || !shoot?.spec.seedName || bastion.metadata.deletionTimestamp !== undefined)
      return { allowed: true, patch: created };
    const { ownerReferences = [] } = bastion.metadata;
    const { apiVersion, kind, name } = refOf(shoot);
    const owner = { apiVersion, kind, name, uid: shoot.metadata.uid, controller: true, blockOwnerDeletion: true };
    const owners = ownerReferences.filter(({ uid }) => uid !== shoot.metadata.uid);
    const seedName = makerOf(oldObject) ?? shoot.spec.seedName;
    const spec = { ...bastion.spec, seedName, providerType: shoot.spec.provider.type };
    const patch: JsonPatchOperation[] = [
      { op: "replace", path: "/spec", value: spec },
      { op: "add", path: "/metadata/ownerReferences", value: [...owners, owner] },
      ...created,
    ];
    return { allowed: true, patch };
  };
}

/** The Seed that makes the Bastion already. */
const makerOf = (old: KubeObject | undefined): string | undefined =>
  (old?.["spec"] as Partial<ShootBastion["spec"]> | undefined)?.seedName;

/** Judges Bastions: their Shoot is there, on a Seed, and stays; its machines can be reached; and networks are networks. */
export function createBastionValidator({ client }: { client: KubeClient }): Webhook {
  return async ({ operation, object, oldObject }) => {
    const bastion = ShootBastion.parse(object);
    if (oldObject && isDeepStrictEqual(bastion.spec, oldObject["spec"])) return judge([]);
    const shoot = await readShoot(client, bastion);
    const { namespace } = bastion.metadata;
    const missing = `there is no Shoot ${namespace}/${bastion.spec.shootRef.name}`;
    return judge([
      ...(shoot ? shootCauses(shoot, operation === "CREATE") : [{ field: shootField, message: missing }]),
      ...ingressCauses(bastion),
    ]);
  };
}

const shootField = "spec.shootRef.name";

const readShoot = (client: KubeClient, { spec, metadata }: ShootBastion) =>
  client.read(Shoot, { name: spec.shootRef.name, namespace: metadata.namespace });

function shootCauses({ spec, metadata }: Shoot, isNew: boolean): Cause[] {
  const refuse = (message: string): Cause[] => [{ field: shootField, message }];
  if (isNew && metadata.deletionTimestamp !== undefined) return refuse("the Shoot is being deleted");
  if (!spec.seedName) return refuse("the Shoot has no Seed yet");
  if ((spec.provider.workers ?? []).length === 0) return refuse("the Shoot has no machines");
  return spec.provider.workersSettings?.sshAccess?.enabled === false ? refuse("the Shoot's machines serve no SSH") : [];
}

function ingressCauses({ spec }: ShootBastion): Cause[] {
  return spec.ingress.flatMap(({ ipBlock: { cidr, except = [] } }, index) =>
    [cidr, ...except].flatMap((network): Cause[] => {
      const field = `spec.ingress[${index}].ipBlock`;
      return isNetwork(network) ? [] : [{ field, message: `${network} is not a network in CIDR notation` }];
    }),
  );
}
