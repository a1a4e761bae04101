import { join } from "node:path";
import { ADMIN_KUBECONFIG, type NodeRole } from "../../api/names.ts";
import { renderBootstrapToken, type BootstrapToken, type KubeClient } from "../../kube/index.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { noteZone } from "../cluster/place.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { replaceApiServerLines } from "../machine/hosts-file.ts";
import { noteAddress } from "../machine/own-address.ts";
import { notePodNetwork } from "../machine/pod-network.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { certificateState } from "../node-agent/certificate.ts";
import { requestKubeconfig } from "../node-agent/credentials.ts";
import type { Prospect } from "./prospect.ts";
import type { TrustedCluster } from "./trust.ts";
import type { Way } from "./way.ts";
import { renderYaml } from "../../yaml.ts";

/** A machine against whose join nothing speaks. */
export interface Entry {
  readonly cluster: TrustedCluster;
  readonly way: Way;
  /** As whom it asks for its certificate. */
  readonly client: KubeClient;
  readonly prospect: Prospect;
  readonly role: NodeRole;
  readonly token: BootstrapToken;
}

const CA_FILE = "/var/lib/gardener-node-agent/cluster-ca.crt";

/**
 * Gets a certificate for the machine's agent, where that has none that is good, and then leaves on the machine what the agent comes in
 * with; answers with who the machine is from then on. The cluster may refuse the certificate: before it is there, nothing is written.
 * The first file says that a join was begun.
 */
export async function enter(
  { root, hostName, addresses: [address] }: Pick<ThisMachine, "root" | "hostName" | "addresses">,
  { cluster: { server, ca }, way, client, prospect, role, token }: Entry,
  signal: AbortSignal,
): Promise<AgentIdentity> {
  const places = agentPlacesIn(root);
  const { secretName, zone } = prospect;
  const pool = prospect.pool.name;
  const isGood = (await certificateState(places.kubeconfig, Date.now())) === "good";
  const kubeconfig = isGood ? undefined : await requestKubeconfig(client, { node: hostName, role, server, ca }, signal);
  await writeWhole(places.pool, Buffer.from(renderYaml({ pool, role, secretName })), 0o600);
  await notePodNetwork(root);
  await noteAddress(root, address);
  await noteZone(root, zone);
  if (way.lines !== undefined) await replaceApiServerLines(root, way.lines);
  await writeWhole(join(root, CA_FILE), Buffer.from(ca), 0o640);
  await writeWhole(places.token, Buffer.from(renderBootstrapToken(token)), 0o600);
  if (role === "worker")
    await writeWhole(places.configuration, Buffer.from(renderYaml({ server, caFile: CA_FILE })), 0o600);
  if (kubeconfig !== undefined) await writeWhole(places.kubeconfig, Buffer.from(kubeconfig), 0o600);
  const configuration = { server, caFile: CA_FILE, secretName, pool, role };
  return { root, places, node: hostName, configuration, adminKubeconfig: join(root, ADMIN_KUBECONFIG) };
}
