import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import { ENDPOINT_RECORD_FINALIZER } from "../../api/names.ts";

/** Which EndpointRecord has each name, as long as this process leads. */
export interface Claims {
  /** Of all records of one name, the one that has it: who had it keeps it, else the oldest gets it, then the first by namespace and name. */
  holderOf(records: readonly [EndpointRecord, ...EndpointRecord[]]): EndpointRecord;
}

/** No name is given yet; a record that has the finalizer had its name before this process led. */
export function createClaims(): Claims {
  const holders = new Map<string, string | undefined>();
  return {
    holderOf(records) {
      const [first] = records;
      const present = records.find(({ metadata }) => metadata.uid === holders.get(first.spec.name));
      const holder = present ?? [...records].sort(inOrder)[0] ?? first;
      holders.set(first.spec.name, holder.metadata.uid);
      return holder;
    },
  };
}

function inOrder(a: EndpointRecord, b: EndpointRecord): number {
  const [before, after] = [orderOf(a), orderOf(b)];
  const differing = before.findIndex((part, at) => part !== after[at]);
  return (before[differing] ?? "") < (after[differing] ?? "") ? -1 : 1;
}

const orderOf = ({
  metadata: { finalizers = [], creationTimestamp = "", namespace, name },
}: EndpointRecord): string[] => [
  finalizers.includes(ENDPOINT_RECORD_FINALIZER) ? "0 held" : "1 free",
  ...[creationTimestamp, namespace, name],
];
