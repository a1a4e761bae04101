import type { AppliedKind } from "../../api/extensions/kinds.ts";
import { controlPlanePools } from "../../api/shoot/self-hosted.ts";
import { isReady } from "../../activities/waits/readiness.ts";
import { Node, type KubeClient } from "../../kube/index.ts";
import type { SelfHostedRun } from "../../workflows/reconcile-self-hosted.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { offersFor } from "../configuration/registrations.ts";

/** Looks at the cluster and its configuration. What a node says of its network counts, and no memory of earlier runs. */
export async function readFacts(client: KubeClient, configuration: Configuration): Promise<SelfHostedRun> {
  const { shoot } = configuration;
  const nodes = await client.list(Node);
  const [pool] = controlPlanePools(shoot);
  const { backup } = pool?.controlPlane ?? {};
  return {
    podNetworkMissing: !nodes.some(hasNetwork),
    hasKubeProxy: shoot.spec.kubernetes.kubeProxy?.enabled !== false,
    offered: offersFor(configuration).map(({ kind }) => kind as AppliedKind),
    hasBackup: backup !== undefined,
  };
}

/**
 * A kubelet is ready as soon as it finds a network plugin; that its routes are there, only the plugin's own controller knows. What that
 * has said outlives a reboot, after which a node is not ready for a while: what runs in pods does not go back to its host then.
 */
function hasNetwork(node: Node): boolean {
  const said = node.status?.conditions?.find(({ type }) => type === "NetworkUnavailable");
  return said === undefined ? isReady(node) : said.status === "False";
}
