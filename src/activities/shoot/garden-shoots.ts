import { Shoot } from "../../api/index.ts";
import type { KubeObject, NamespacedMeta } from "../../api/schema/meta.ts";
import { defineKind, inBrief, typeMeta, type KubeClient } from "../../kube/index.ts";

/** The Shoots of a garden, as far as their names and their Seeds go. */
export interface GardenShoots {
  /** Returns all Shoots. Of those that were stored under their names before `shoot` was stored under its own, none is missing. */
  asOf(shoot: Shoot): Promise<readonly NamedShoot[]>;
}

/** The fields of a Shoot by which others are judged: what its users leave to a provider takes hundreds of kilobytes. */
export interface NamedShoot extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: Pick<Shoot["spec"], "seedName"> & {
    readonly dns?: { readonly domain?: string | undefined } | undefined;
  };
  readonly status?: Pick<NonNullable<Shoot["status"]>, "seedName" | "technicalID"> | undefined;
}

/** Shoots, with the fields by which others are judged. */
export const NamedShoot = defineKind<NamedShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

/** Takes from a Shoot the fields by which others are judged. */
export function toNamedShoot({ apiVersion, kind, metadata, spec, status }: NamedShoot): NamedShoot {
  const { seedName, dns } = spec;
  const placed = { seedName, ...(dns?.domain !== undefined && { dns: { domain: dns.domain } }) };
  const { seedName: leader, technicalID } = status ?? {};
  return inBrief({ apiVersion, kind, metadata, spec: placed, status: { seedName: leader, technicalID } });
}

/** The Shoots of a garden, listed each time: for programs that ask once. */
export const listedShoots = (gardenClient: KubeClient): GardenShoots => ({
  asOf: () => gardenClient.list(NamedShoot, { keep: toNamedShoot }),
});
