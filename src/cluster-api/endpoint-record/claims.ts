import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import type { NamespacedKey } from "../../kube/index.ts";
import { findCondition } from "../objects/conditions.ts";

/**
 * How far a record has come with its name, the farthest first: there is a DNSRecord, which may have brought it into the DNS; it can be
 * brought there; or credentials for that are missing.
 */
const stages = ["published", "able", "without credentials"] as const;

/** A record that competes for its name, and how far it has come. */
export interface Claimant {
  readonly record: EndpointRecord;
  readonly stage: (typeof stages)[number];
}

/** Which EndpointRecord has each name, as long as this process leads. */
export interface Claims {
  /**
   * Of all that compete for a name, the one that has it: of the farthest, who had it keeps it, also from before this process led, else the
   * oldest gets it, then the first by namespace and name. A record that is not able keeps no name from one that is.
   */
  holderOf(name: string, claimants: readonly Claimant[]): EndpointRecord | undefined;
  /** The one that would have it; nothing is noted. */
  choose(name: string, claimants: readonly Claimant[]): EndpointRecord | undefined;
  /** The uid of the record that has a name. */
  uidOf(name: string): string | undefined;
  /** Takes back what a record that has gone had, so that names which come and go do not pile up. */
  forget(record: NamespacedKey): void;
  /** How many names are given. */
  count(): number;
}

/** No name is given yet; a record had its name before this process led where its condition Published says neither that another has it nor that it has no Cluster. */
export function createClaims(): Claims {
  const holders = new Map<string, NamespacedKey & { readonly uid: string | undefined }>();
  function choose(name: string, claimants: readonly Claimant[]): EndpointRecord | undefined {
    const farthest = stages.find((one) => claimants.some(({ stage }) => stage === one));
    const rivals = claimants.filter(({ stage }) => stage === farthest).map(({ record }) => record);
    const present = rivals.find(({ metadata }) => metadata.uid === holders.get(name)?.uid);
    return present ?? rivals.sort(inOrder)[0];
  }

  return {
    choose,
    uidOf: (name) => holders.get(name)?.uid,
    holderOf(name, claimants) {
      const holder = choose(name, claimants);
      if (holder === undefined) holders.delete(name);
      else holders.set(name, idOf(holder));
      return holder;
    },
    forget(record) {
      const isIts = (one: NamespacedKey) => one.namespace === record.namespace && one.name === record.name;
      for (const [name, holder] of holders) if (isIts(holder)) holders.delete(name);
    },
    count: () => holders.size,
  };
}

const idOf = ({ metadata: { namespace, name, uid } }: EndpointRecord) => ({ namespace, name, uid });

function inOrder(a: EndpointRecord, b: EndpointRecord): number {
  const [before, after] = [orderOf(a), orderOf(b)];
  const differing = before.findIndex((part, at) => part !== after[at]);
  return (before[differing] ?? "") < (after[differing] ?? "") ? -1 : 1;
}

const orderOf = ({ metadata: { creationTimestamp = "", namespace, name }, ...record }: EndpointRecord): string[] => [
  hasHeld(record) ? "0 held" : "1 free",
  creationTimestamp,
  namespace,
  name,
];

/** Whether a record says that it has had its name. A finalizer does not: who has lost a name keeps it, and users write it. */
export function hasHeld({ status }: Pick<EndpointRecord, "status">): boolean {
  const { reason } = findCondition(status?.conditions, "Published") ?? {};
  return reason !== undefined && reason !== "NameTaken" && reason !== "WaitingForCluster";
}
