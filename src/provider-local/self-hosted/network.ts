import { setTimeout as delay } from "node:timers/promises";
import { NO_CLEANUP_LABEL } from "../../api/labels.ts";
import { ManagedResource, type Network } from "../../api/index.ts";
import { ExtensionError, type Actuator, type KubeClient } from "../../extension/index.ts";
import { refTo, Secret, typeMeta } from "../../kube/index.ts";
import { networkAgentObjects, type AgentImage } from "../network-agent/objects.ts";
import { renderYaml } from "../../yaml.ts";

/**
 * The pods' network of a self-hosted cluster: an agent on each node, as a ManagedResource in the Network's namespace, which the
 * cluster's resource manager applies. The agents are not waited for: nodes may come only later.
 */
export function createAgentNetworkActuator(image: AgentImage): Actuator<Network> {
  const reconcile: Actuator<Network>["reconcile"] = async ({ metadata, spec }, _cluster, { client }) => {
    const { ipFamilies = ["IPv4"], podCIDR } = spec;
    if (ipFamilies.some((family) => family !== "IPv4"))
      throw new ExtensionError(
        `cannot make a pod network of ${ipFamilies.join(" and ")}: networks of type local have IPv4 addresses only; set spec.networking.ipFamilies to [IPv4]`,
        ["ERR_CONFIGURATION_PROBLEM"],
      );
    const { namespace } = metadata;
    const manifests = networkAgentObjects(image, podCIDR).map((object) => renderYaml(object));
    const data = { "network-agent.yaml": Buffer.from(manifests.join("---\n")).toString("base64") };
    await client.apply({ ...typeMeta(Secret), metadata: { namespace, name: SECRET }, type: "Opaque", data });
    await client.apply({
      ...typeMeta(ManagedResource),
      metadata: { namespace, name: NETWORK_RESOURCE },
      spec: { secretRefs: [{ name: SECRET }], injectLabels: { [NO_CLEANUP_LABEL]: "true" } },
    });
    return { status: { ipFamilies } };
  };
  return {
    reconcile,
    restore: reconcile,
    migrate: async () => undefined,
    async delete({ metadata: { namespace } }, _cluster, { client, signal }) {
      await client.remove(refTo(ManagedResource, { namespace, name: NETWORK_RESOURCE }));
      await untilGone(client, namespace, signal);
      await client.remove(refTo(Secret, { namespace, name: SECRET }));
    },
  };
}

/** Name of the ManagedResource; the chart's role names it, and its Secret, too. */
export const NETWORK_RESOURCE = "provider-local-network";

const SECRET = `managedresource-${NETWORK_RESOURCE}`;

/** The resource manager takes the agents away before it lets the ManagedResource go. It needs the Secret for that. */
async function untilGone(client: KubeClient, namespace: string, signal: AbortSignal): Promise<void> {
  const key = { namespace, name: NETWORK_RESOURCE };
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await delay(500, undefined, { signal }))
    if ((await client.read(ManagedResource, key)) === undefined) return;
  throw new ExtensionError(
    `cannot remove the pod network of ${namespace}: ManagedResource ${NETWORK_RESOURCE} has been waiting for its resource manager for two minutes`,
  );
}
