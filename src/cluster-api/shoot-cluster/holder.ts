import type { ShootCluster } from "../../api/cluster-api/index.ts";
import { INFRASTRUCTURE_ID_LABEL } from "../../api/labels.ts";
import { INFRASTRUCTURE_FINALIZER } from "../../api/names.ts";
import { identityOf, type Identity } from "../shoot/identity.ts";

/** In the garden: whose a thing is, and for which Shoot. Users write labels of ShootClusters, so an id alone gives no right to it. */
export interface Holder {
  readonly id: string;
  /** The Shoot that it is for, in the only project that the ShootCluster's namespace may use. */
  readonly shoot: { readonly namespace: string; readonly name: string };
}

/** By what a ShootCluster is known in the garden, and what keeps it. */
export const infrastructureIdentity: Identity = {
  label: INFRASTRUCTURE_ID_LABEL,
  finalizer: INFRASTRUCTURE_FINALIZER,
};

/** What a ShootCluster is known by in the garden. */
export const infrastructureId = (infrastructure: ShootCluster): string =>
  identityOf(infrastructure, INFRASTRUCTURE_ID_LABEL) ?? "";
