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

/** The Seeds that work for a Shoot, by what they do for it. */
export interface Holders {
  /** The Seed that acts for the Shoot. */
  readonly leader: string | undefined;
  /** The Seed that has led and is to take the last snapshot; not one that was taken over from. */
  readonly source: string | undefined;
  /** The Seed that is to lead and does not yet. */
  readonly destination: string | undefined;
}

/** Returns the Seeds that work for the Shoot, by its spec and status, which no seed writes. */
export function holdersOf(shoot: KnownShoot): Holders {
  const move = moveOf(shoot);
  const leader = move.leader ?? shoot.spec.seedName;
  const source = neededSource(move);
  return {
    leader,
    source: source === leader ? undefined : source,
    destination: move.is === "leaving" ? move.destination : undefined,
  };
}

/** By these a move is called back, or is a takeover. */
const decisive = [CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION];

const pick = (from: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));

/** The Seeds that may still have parts of the Shoot and work for it no more. */
export function leftSeedsOf(shoot: KnownShoot): string[] {
  const holders = Object.values<string | undefined>({ ...holdersOf(shoot) });
  return (shoot.status?.seeds ?? []).filter((seed) => !holders.includes(seed)).sort();
}

/**
 * The Seeds whose buckets may hold the snapshot that the Shoot is restored from; none unless it moves. The source of a
 * planned move takes a last snapshot. In a takeover each Seed that has led since the Shoot was whole may be the last one
 * to have taken any: none of them leaves the status before the Shoot has arrived.
 */
export function snapshotSeedsOf(shoot: KnownShoot): string[] {
  const move = moveOf(shoot);
  if (move.is === "settled") return [];
  if (move.is !== "returning" && move.takeover === "none") return [move.source];
  const { seeds = [], leadership } = shoot.status ?? {};
  const before = leadership?.previousSeed === undefined ? [] : [leadership.previousSeed];
  return [...new Set([move.leader, ...before, ...seeds])];
}
