import { defineFlow } from "../flow/flow.ts";
import { act, call, inGarden, removeNamespace } from "./steps.ts";

/**
 * Takes away what a Shoot has left on a seed that does not lead any more, without touching infrastructure. A seed that is
 * dead is waited for, however long; only when nothing is left does its name leave `status.seeds`.
 */
// prettier-ignore
export const cleanUp = defineFlow("Clean up Seed", {
  fence:           { run: call("raiseFence") },
  workloads:       { run: act("stopEverything"),       after: ["fence"] },
  extensions:      { run: call("abandonExtensions"),   after: ["workloads"] },
  removeNamespace: { run: removeNamespace,             after: ["extensions"] },
  removeCluster:   { run: call("removeCluster"),       after: ["removeNamespace"] },
  leave:           { run: inGarden("leaveSeed"),       after: ["removeCluster"] },
});
