import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { NODE_AGENT_GROUPS, NODE_AGENT_USER_PREFIX, NODE_AGENTS_GROUP } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client.ts";
import { renderKubeconfig } from "../../kube/kubeconfig.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { certificateState } from "./certificate.ts";
import type { AgentConfiguration } from "../machine/agent-configuration.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { requestCertificate } from "./request-certificate.ts";
import { isThere } from "../machine/is-there.ts";
import { createClusterClient } from "../cluster/client.ts";

/**
 * Makes sure that the agent has a certificate with less than 80 % of its life over, and says whether it is another one now. It is
 * asked for with the present one; where that is of no use, as the administrator of a control-plane node, or with the
 * bootstrap token. Throws, naming what is missing, where none of these is there.
 */
export async function ensureCredentials(identity: AgentIdentity, now: number, signal: AbortSignal): Promise<boolean> {
  const { root, places, node, configuration } = identity;
  const state = await certificateState(places.kubeconfig, now);
  if (state === "good") return false;
  const ca = await readFile(join(root, configuration.caFile), "utf8");
  const client =
    state === "due" ? createClusterClient({ file: places.kubeconfig }, OPTIONS) : await newcomer(identity, ca);
  try {
    const text = await requestKubeconfig(client, { ...configuration, node, ca }, signal);
    await writeWhole(places.kubeconfig, Buffer.from(text), 0o600);
    return true;
  } finally {
    await client.close();
  }
}

/** An agent that asks for a certificate. */
export interface Applicant extends Pick<AgentConfiguration, "server" | "role"> {
  readonly node: string;
  /** In PEM. */
  readonly ca: string;
}

/** The kubeconfig of an agent, with a certificate that the cluster gives for it; throws why it gives none. Nothing is written. */
export async function requestKubeconfig(
  client: KubeClient,
  { node, role, server, ca }: Applicant,
  signal: AbortSignal,
): Promise<string> {
  const groups = [NODE_AGENTS_GROUP, NODE_AGENT_GROUPS[role]];
  const { certificate, key } = await requestCertificate(client, `${NODE_AGENT_USER_PREFIX}${node}`, groups, signal);
  return renderKubeconfig({ server, ca, clientCert: certificate, clientKey: key });
}

const OPTIONS = { userAgent: "gardener-node-agent" } as const;

async function newcomer({ places, configuration, adminKubeconfig }: AgentIdentity, ca: string): Promise<KubeClient> {
  const { role, server } = configuration;
  if (role === "control-plane" && (await isThere(adminKubeconfig)))
    return createClusterClient({ file: adminKubeconfig }, OPTIONS);
  const token = await readToken(places.token);
  if (token === undefined)
    throw new Error(
      `the agent of this machine has no certificate that is good, and no bootstrap token in ${places.token}: ` +
        "make one with 'gardenadm token create --print-join-command', and run that line here",
    );
  return createClusterClient({ kubeconfig: renderKubeconfig({ server, ca, token }) }, OPTIONS);
}

/** The token of this file; undefined where there is none. */
export async function readToken(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trim() === "" ? undefined : text.trim();
}
