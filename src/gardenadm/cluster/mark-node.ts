import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import type { StepScope } from "../../in-process/run.ts";
import { Node, refOf, type KubeClient } from "../../kube/index.ts";
import { until } from "../steps/until.ts";

/** Waits for the Node, and marks it as one of the control plane: a kubelet may not say that of itself. */
export async function markNode(client: KubeClient, name: string, scope: StepScope): Promise<void> {
  await until(`Node ${name} is not there`, scope, async () => {
    const node = await client.read(Node, { name });
    if (node !== undefined && node.metadata.labels?.[CONTROL_PLANE_LABEL] === undefined)
      await client.patch(refOf(node), { metadata: { labels: { [CONTROL_PLANE_LABEL]: "" } } });
    return node !== undefined;
  });
}
