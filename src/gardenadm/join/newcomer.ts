import { join } from "node:path";
import { stringify } from "yaml";
import { imagesFor, nodeAgentSecretName, type ControlPlaneContext } from "../../components/index.ts";
import { ADMIN_KUBECONFIG, SYSTEM_NAMESPACE, type NodeRole } from "../../api/names.ts";
import { isReady } from "../../activities/waits/readiness.ts";
import type { StepScope } from "../../in-process/run.ts";
import {
  createKubeClient,
  Lease,
  Node,
  renderBootstrapToken,
  Secret,
  type BootstrapToken,
  type KubeClient,
} from "../../kube/index.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { NAMESPACE, readMade } from "../cluster/control-plane.ts";
import { OperatorError } from "../steps/fault.ts";
import { noteAddress } from "../machine/own-address.ts";
import { notePodNetwork } from "../machine/pod-network.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { demandsOf } from "../preflight/demands.ts";
import { networkFaults } from "../preflight/networks.ts";
import { preflight } from "../preflight/preflight.ts";
import { until } from "../steps/until.ts";
import { ensureCredentials } from "../node-agent/credentials.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { ensureName } from "./api-server-name.ts";
import { refuseOtherCluster } from "./other-cluster.ts";
import { noteZone, placeOf, type Place, type WantedPlace } from "../cluster/place.ts";
import type { Proof, TrustedCluster } from "./trust.ts";
import { isThere } from "../machine/is-there.ts";
import { machineId } from "../machine/machine-id.ts";
import { hasKubelet } from "../machine/traces.ts";

/** What a machine that joins is told by its operator. */
export interface Invitation extends WantedPlace {
  /** URL at which an API server answers. */
  readonly address: string;
  readonly token: BootstrapToken;
  /** By which of its addresses the cluster is to reach the machine. */
  readonly nodeIp?: string | undefined;
}

/** What the steps of a join work with. */
export interface JoinDeps {
  readonly machine: ThisMachine;
  readonly invitation: Invitation;
  readonly proof: Proof;
}

const CA_FILE = "/var/lib/gardener-node-agent/cluster-ca.crt";

/**
 * Refuses a machine that is a node of another cluster. Leaves on the machine what its agent comes in with (authority, server, token),
 * and has it get its certificate; what is good already stays. Answers with who the machine is from then on.
 */
export async function enter(
  { root, hostName }: ThisMachine,
  cluster: TrustedCluster,
  { address, role, token }: Invitation,
  signal: AbortSignal,
): Promise<AgentIdentity> {
  const places = agentPlacesIn(root);
  await refuseOtherCluster(root, cluster.ca);
  await ensureName(cluster, address, root);
  await writeWhole(join(root, CA_FILE), Buffer.from(cluster.ca), 0o640);
  await writeWhole(places.token, Buffer.from(renderBootstrapToken(token)), 0o600);
  const { server } = cluster;
  if (role === "worker")
    await writeWhole(places.configuration, Buffer.from(stringify({ server, caFile: CA_FILE })), 0o600);
  const configuration = { server, caFile: CA_FILE, secretName: "", pool: "", role };
  const identity = { root, places, node: hostName, configuration, adminKubeconfig: join(root, ADMIN_KUBECONFIG) };
  await ensureCredentials(identity, Date.now(), signal);
  return identity;
}

/** A client of the machine's agent. */
export const agentClient = ({ places }: Pick<AgentIdentity, "places">): KubeClient =>
  createKubeClient({ file: places.kubeconfig }, { userAgent: "gardenadm" });

/** What the cluster says of itself to its nodes. */
export async function readCluster(client: KubeClient): Promise<ControlPlaneContext> {
  const { shoot, cloudProfile } = await readMade(client);
  const images = imagesFor(shoot.spec.kubernetes.version);
  return { shoot, cloudProfile, namespace: NAMESPACE, checksums: {}, images, nodes: [] };
}

/** Notes on the machine which pool it belongs to, its zone, and its address; answers with the first two. */
export async function takePlace(
  { root, places }: AgentIdentity,
  { addresses: [address] }: Pick<ThisMachine, "addresses">,
  context: ControlPlaneContext,
  wanted: WantedPlace,
): Promise<Place & { readonly secretName: string }> {
  const place = placeOf(context, wanted);
  if (!(await hasKubelet(root))) {
    const faults = await networkFaults({ root, demands: demandsOf(context.shoot, place.pool) });
    if (faults.length > 0) throw new OperatorError(faults.join("; "));
  }
  const secretName = nodeAgentSecretName(context, place.pool);
  const ofPool = stringify({ pool: place.pool.name, role: wanted.role, secretName });
  await writeWhole(places.pool, Buffer.from(ofPool), 0o600);
  await notePodNetwork(root);
  await noteAddress(root, address);
  await noteZone(root, place.zone);
  return { ...place, secretName };
}

/** The Secret that says what the machines of a pool are to be. */
export async function readOrder(client: KubeClient, name: string): Promise<Secret> {
  const secret = await client.read(Secret, { namespace: SYSTEM_NAMESPACE, name });
  if (secret !== undefined) return secret;
  throw new OperatorError(
    `Secret ${SYSTEM_NAMESPACE}/${name}, which says what the machine is to be, does not exist: 'gardenadm init' on the first node makes it`,
  );
}

/** Tells what is doubtful about the machine, and throws an OperatorError with every reason why it cannot be a node. */
export async function preflightFor(machine: ThisMachine, role: NodeRole, { tell }: StepScope): Promise<void> {
  const isBegun = await isThere(join(machine.root, "/var/lib/gardener-node-agent"));
  const { faults, warnings } = await preflight({ ...machine, isBegun }, role);
  if (warnings.length > 0) tell(warnings.join("; "));
  if (faults.length > 0) throw new OperatorError(faults.join("; "));
}

/** Waits until the Node of a machine is ready. */
export async function nodeReady(client: KubeClient, name: string, scope: StepScope): Promise<void> {
  await until(`Node ${name} is not ready`, scope, async () => {
    const node = await client.read(Node, { name });
    return node === undefined ? "it does not exist" : isReady(node);
  });
}

/** Throws an OperatorError where another machine is at work as the node of this one's name: Kubernetes knows machines by these only. */
export async function refuseNamesake(client: KubeClient, machine: ThisMachine): Promise<void> {
  if (await hasNamesake(client, machine)) throw new OperatorError(namesake(machine));
}

/**
 * The same for a machine that may have lost its disk a moment ago: its node counts as ready for a while. That is waited for, until the
 * kubelet of the other machine is heard of. Needs an administrator's client.
 */
export async function refuseLiveNamesake(client: KubeClient, machine: ThisMachine, scope: StepScope): Promise<void> {
  const { hostName } = machine;
  const heardOf = async () =>
    (await client.read(Lease, { namespace: "kube-node-lease", name: hostName }))?.spec?.renewTime;
  const first = await heardOf();
  let isAtWork = false;
  await until(
    `node ${hostName} is ready, and was another machine, or this one before it lost its disk`,
    scope,
    async () => {
      if (!(await hasNamesake(client, machine))) return true;
      isAtWork = (await heardOf()) !== first;
      return isAtWork;
    },
    { advice: `see 'kubectl get node ${hostName}' on a node of the control plane`, atMost: 180_000 },
  );
  if (isAtWork) throw new OperatorError(namesake(machine));
}

/** Whether the Node of this machine's name is ready, and another machine. */
async function hasNamesake(client: KubeClient, { root, hostName }: ThisMachine): Promise<boolean> {
  const node = await client.read(Node, { name: hostName });
  return node !== undefined && isReady(node) && node.status?.nodeInfo?.machineID !== (await machineId(root));
}

const namesake = ({ hostName }: ThisMachine): string =>
  `node ${hostName} is another machine, which is at work: give this one another name with 'hostnamectl hostname NAME'; where this one has lost its disk, wait a minute until the Node is not ready any more`;
