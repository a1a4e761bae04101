import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OperatingSystemConfig } from "../../src/api/index.ts";
import { BOOTSTRAPPER_GROUPS, type NodeRole } from "../../src/api/names.ts";
import { components, nodeAgentSecret, poolsOf, type ControlPlaneContext } from "../../src/components/index.ts";
import type { AgentIdentity } from "../../src/gardenadm/machine/agent-identity.ts";
import { agentPlacesIn } from "../../src/gardenadm/machine/agent-places.ts";
import { bootstrapTokenSecret, generateBootstrapToken, renderBootstrapToken } from "../../src/kube/index.ts";
import type { MachineConfig } from "../../src/node-agent/wanted.ts";
import { admissionInForce } from "./admission-in-force.ts";
import { exampleShoot } from "./control-plane-context.ts";
import type { ControlPlane } from "./control-plane.ts";
import { selfHostedContext } from "./self-hosted-control-plane.ts";

/** A self-hosted Shoot with a pool for its control plane and one for workers. */
export function twoPoolContext(): ControlPlaneContext {
  const { provider } = exampleShoot().spec;
  const [worker] = provider.workers ?? [];
  if (worker === undefined) throw new Error("the example has no pool");
  const workers = [{ ...worker, name: "cp", controlPlane: {} }, worker];
  return { ...selfHostedContext(["a"]), shoot: exampleShoot({ provider: { ...provider, workers } }) };
}

/** Gives the cluster the rights of nodes, and has it know by then. */
export async function giveNodeAccess({ client }: ControlPlane): Promise<void> {
  for (const object of components["node-bootstrap"].objects(twoPoolContext())) await client.apply(object);
  await admissionInForce(client, ["policy"]);
}

/** Writes the Secret of the pool of this role: with these files and units, and no others. */
export async function orderMachines(
  cluster: ControlPlane,
  role: NodeRole,
  spec: MachineConfig["spec"],
): Promise<string> {
  const context = twoPoolContext();
  const pool = poolsOf(context).find(({ controlPlane }) => (controlPlane === undefined) === (role === "worker"));
  if (pool === undefined) throw new Error(`there is no pool of role ${role}`);
  const config: OperatingSystemConfig = {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "OperatingSystemConfig",
    metadata: { name: "x", namespace: "kube-system" },
    spec: { type: "local", purpose: "reconcile", ...spec },
  };
  const secret = nodeAgentSecret(context, pool, config, () => "");
  await cluster.client.apply(secret);
  return secret.metadata.name;
}

/** A bootstrap token of this role, which the cluster knows for an hour. */
export async function makeToken({ client }: ControlPlane, role: NodeRole): Promise<string> {
  const token = generateBootstrapToken();
  const use = { description: "test", expiresAt: Date.now() + 3_600_000, groups: [BOOTSTRAPPER_GROUPS[role]] };
  await client.create(bootstrapTokenSecret(token, use));
  return renderBootstrapToken(token);
}

/** A machine's folder with what `gardenadm join` writes: the authority and, where there is one, a token. */
export async function joiningMachine(
  cluster: ControlPlane,
  { node, role, secretName, token }: { node: string; role: NodeRole; secretName: string; token?: string },
): Promise<{ dir: string; identity: AgentIdentity }> {
  const dir = await mkdtemp(join(tmpdir(), "perennial-node-agent-"));
  const root = join(dir, "root");
  const places = agentPlacesIn(root);
  await mkdir(join(root, "/var/lib/gardener-node-agent/credentials"), { recursive: true });
  await writeFile(join(root, CA), cluster.authority.certificate);
  if (token !== undefined) await writeFile(places.token, token, { mode: 0o600 });
  const configuration = {
    server: cluster.client.server,
    caFile: CA,
    secretName,
    pool: role === "worker" ? "worker" : "cp",
    role,
  };
  return { dir, identity: { root, places, node, configuration, adminKubeconfig: join(root, "none") } };
}

const CA = "/var/lib/gardener-node-agent/cluster-ca.crt";
