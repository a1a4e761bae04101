import { counted } from "../api/counted.ts";
import type { NeededReference } from "../api/core/seed-references.ts";
import { ROLE_LABEL } from "../api/labels.ts";
import { GARDEN_NAMESPACE } from "../api/names.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import { inWords, refOf, type KubeClient } from "../kube/index.ts";
import { identityOf } from "./metadata.ts";
import { judge, type Webhook } from "./review.ts";
import { keyOf, KnownSeed, KnownShoot } from "./watched/known.ts";

/**
 * Refuses to delete a Secret or ConfigMap that a Shoot or a Seed names, and the credentials of leadership records while there is
 * a Shoot: operations would fail without them, deletions, too (Gardener: the Shoot and Seed Reference controllers, which hold
 * them by a finalizer). Those that bindings name are held by their own.
 */
export function createReferencedValidator({ client }: { readonly client: KubeClient }): Webhook {
  return async ({ kind, oldObject }) => {
    const { name, namespace = "" } = identityOf(oldObject);
    const isMeant = (reference: NeededReference) =>
      reference.kind === kind.kind && reference.name === name && reference.namespace === namespace;
    const shoots = await client.list(KnownShoot);
    const seeds = namespace === GARDEN_NAMESPACE ? await client.list(KnownSeed) : [];
    for (const user of [...seeds, ...shoots]) {
      const reference = user.references?.find(isMeant);
      if (reference === undefined) continue;
      const message = `${inWords(refOf(user))} names the object in ${reference.field}: delete that first, or have it name another`;
      return judge([{ field: "metadata.name", message, forbidden: true }]);
    }
    const count = new Set(shoots.map(({ metadata }) => keyOf(metadata))).size;
    if (!isLeadershipDomain(oldObject) || count === 0) return judge([]);
    const message = `the leadership records of ${counted(count, "Shoot")} are kept with the object: without it none can be moved or deleted`;
    return judge([{ field: "metadata.name", message, forbidden: true }]);
  };
}

const isLeadershipDomain = (object: KubeObject | undefined): boolean =>
  object?.kind === "Secret" &&
  object.metadata.namespace === GARDEN_NAMESPACE &&
  object.metadata.labels?.[ROLE_LABEL] === "leadership-domain";
