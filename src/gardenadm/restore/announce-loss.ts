import { NODE_AGENT_CONTROLLER } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { createEventRecorder } from "../../kube/events.ts";
import { Node } from "../../kube/kinds.ts";
import { refOf } from "../../kube/path.ts";
import type { Logger } from "../../log.ts";
import type { Loss } from "./mend.ts";

/** The condition of a Node whose etcd was begun anew. An operator who has read it takes it away. */
export const DATA_RESTORED = "EtcdDataRestored";

/** What was lost, in a sentence. */
export function sentenceOf({ role, why, from, aside }: Loss): string {
  const kept = aside === undefined ? "" : `; the old data are in ${aside}`;
  const lost =
    role === "main" ? `etcd-main goes on from ${from}, and what was written since is lost` : "events are lost";
  return `${why}: ${lost}${kept}`;
}

/** Says on the Node of this machine, by an Event and a condition that stays, what was lost. Throws a KubeError while that cannot be written. */
export async function announceLoss(client: KubeClient, name: string, loss: Loss, log: Logger): Promise<void> {
  const node = await client.read(Node, { name });
  if (node === undefined) throw new Error(`Node ${name} is not there yet`);
  const time = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const message = sentenceOf(loss);
  const condition = {
    ...{ type: DATA_RESTORED, status: "True", reason: "DataLost", message },
    ...{ lastTransitionTime: time, lastHeartbeatTime: time },
  };
  const others = (node.status?.conditions ?? []).filter(({ type }) => type !== DATA_RESTORED || loss.role !== "main");
  const { resourceVersion } = node.metadata;
  const status = { conditions: [...others, condition] };
  await client.patch(refOf(node), { metadata: { resourceVersion }, status }, { subresource: "status" });
  const recorder = createEventRecorder({ client, controller: NODE_AGENT_CONTROLLER, instance: name, log });
  const words = { reason: DATA_RESTORED, action: "Restore", note: message };
  recorder.record({ regarding: node, type: "Warning", ...words });
  await recorder.settled();
}
