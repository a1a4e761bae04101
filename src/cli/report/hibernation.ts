import type { Shoot } from "../../api/index.ts";

/** How a Shoot sleeps, in Gardener's words: as it is where that is what its spec asks for, else where it is going. */
export function hibernation({ spec, status }: Shoot): "Awake" | "Hibernating" | "Hibernated" | "Waking Up" {
  const asked = spec.hibernation?.enabled === true;
  if (asked === (status?.hibernated === true)) return asked ? "Hibernated" : "Awake";
  return asked ? "Hibernating" : "Waking Up";
}

/** What wakes a Shoot up: a field of its spec, for which there is no verb. */
export const wakeUp = (namespace: string, name: string): string =>
  `to wake it up: kubectl -n ${namespace} patch shoot ${name} --type merge -p '{"spec":{"hibernation":{"enabled":false}}}'`;
