import { NODE_AGENT_CONTROLLER } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { createEventRecorder } from "../../kube/events.ts";
import { Node } from "../../kube/kinds.ts";
import { refOf } from "../../kube/path.ts";
import type { Logger } from "../../log.ts";
import type { Loss } from "./loss.ts";

/** The conditions of a Node whose etcds were begun anew, and the reasons of Events. An operator who has read them takes them away. */
export const DATA_RESTORED = { main: "EtcdDataRestored", events: "EtcdEventsRestored" } as const;

/** What was lost, in a sentence. */
export function sentenceOf({ role, why, from, aside, learnt }: Loss): string {
  const kept = aside === undefined ? "" : `; the old data are in ${aside}`;
  if (learnt === true) return `${why}: etcd-${role} has learnt anew from ${from}, and nothing is lost${kept}`;
  const lost =
    role === "main" ? `etcd-main goes on from ${from}, and what was written since is lost` : "events are lost";
  return `${why}: ${lost}${kept}`;
}

/** Says on the Node of this machine, by an Event and a condition that stays, what was lost. Throws a KubeError while that cannot be written. */
export async function announceLoss(client: KubeClient, name: string, loss: Loss, log: Logger): Promise<void> {
  const node = await client.read(Node, { name });
  if (node === undefined) throw new Error(`Node ${name} is not there yet`);
  const time = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const [message, type] = [sentenceOf(loss), DATA_RESTORED[loss.role]];
  const condition = {
    ...{ type, status: "True", reason: loss.learnt === true ? "LearntAnew" : "DataLost", message },
    ...{ lastTransitionTime: time, lastHeartbeatTime: time },
  };
  const others = (node.status?.conditions ?? []).filter((each) => each.type !== type);
  const { resourceVersion } = node.metadata;
  const status = { conditions: [...others, condition] };
  await client.patch(refOf(node), { metadata: { resourceVersion }, status }, { subresource: "status" });
  const recorder = createEventRecorder({ client, controller: NODE_AGENT_CONTROLLER, instance: name, log });
  const words = { reason: type, action: "Restore", note: message };
  recorder.record({ regarding: node, type: "Warning", ...words });
  await recorder.settled();
}
