import { CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION } from "../../api/annotations.ts";
import { Shoot } from "../../api/index.ts";
import { moveOf, neededSource } from "../../api/placement/move.ts";
import type { NamespacedMeta } from "../../api/schema/meta.ts";
import { defineKind, typeMeta } from "../../kube/index.ts";

type Spec = Pick<
  Shoot["spec"],
  | "seedName"
  | "secretBindingName"
  | "credentialsBindingName"
  | "dns"
  | "cloudProfile"
  | "resources"
  | "exposureClassName"
>;
type Status = Pick<NonNullable<Shoot["status"]>, "seedName" | "seeds" | "technicalID" | "leadership" | "lastOperation">;

/** What is remembered of a Shoot: who holds it, and which of the garden's objects it refers to. */
export interface KnownShoot {
  readonly [field: string]: unknown;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: NamespacedMeta;
  readonly spec: Spec;
  readonly status?: Status | undefined;
}

/** Shoots, of which this is all that is looked at. */
export const KnownShoot = defineKind<KnownShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

/** Takes from a Shoot what is to be remembered: a garden has thousands. */
export function toKnownShoot({ apiVersion, kind, metadata, spec, status }: KnownShoot): KnownShoot {
  const { name, namespace, uid, resourceVersion, annotations = {} } = metadata;
  const { seedName, secretBindingName, credentialsBindingName, dns, cloudProfile, resources, exposureClassName } = spec;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, annotations: pick(annotations, decisive) },
    spec: { seedName, secretBindingName, credentialsBindingName, dns, cloudProfile, resources, exposureClassName },
    ...(status && {
      status: {
        seedName: status.seedName,
        seeds: status.seeds,
        technicalID: status.technicalID,
        leadership: status.leadership,
        lastOperation: status.lastOperation,
      },
    }),
  };
}

/**
 * The Seeds that work for the Shoot: the one that leads, the one that holds it, the one to which it goes, and the one from
 * which it comes, which takes the last snapshot when the other leads already. Not one that was taken over from.
 */
export function holdersOf(shoot: KnownShoot): string[] {
  const { spec, status } = shoot;
  const seeds = [spec.seedName, status?.seedName, status?.leadership?.seed, neededSource(moveOf(shoot))];
  return [...new Set(seeds.flatMap((seed) => (seed === undefined ? [] : [seed])))].sort();
}

/** By these a move is called back, or is a takeover. */
const decisive = [CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION];

const pick = (from: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));

/** The Seeds that may still have parts of the Shoot and work for it no more. */
export function leftSeedsOf(shoot: KnownShoot): string[] {
  const holders = holdersOf(shoot);
  return (shoot.status?.seeds ?? []).filter((seed) => !holders.includes(seed)).sort();
}

/** Whether a Seed takes it from another, and so has to reach what the other has kept. */
export const isMoving = (shoot: KnownShoot): boolean => moveOf(shoot).is !== "settled";
