import { call, defineShootFlow, inGarden } from "./actions.ts";
/**
 * Takes away what a Shoot has left on a seed that does not lead any more, without touching infrastructure. A seed that is
 * dead is waited for, however long; only when nothing is left does its name leave `status.seeds`.
 */
// prettier-ignore
export const cleanUp = defineShootFlow("Clean up Seed", {
  fence:           { do: call("raiseFence") },
  workloads:       { do: call("stopWorkloads"),     after: ["fence"] },
  extensions:      { do: call("abandonExtensions"), after: ["workloads"] },
  removeNamespace: { do: call("removeNamespace"),   after: ["extensions"] },
  removeCluster:   { do: call("removeCluster"),     after: ["removeNamespace"] },
  leave:           { do: inGarden("leaveSeed"),     after: ["removeCluster"] },
});
