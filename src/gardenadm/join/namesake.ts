import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { isReady } from "../../activities/waits/readiness.ts";
import type { StepScope } from "../../in-process/run.ts";
import { ETCDS, etcdPorts, nodeUrl } from "../../components/index.ts";
import { isMemberAt } from "../../etcd/member-at.ts";
import { isForbidden, Lease, Node, Secret, type KubeClient } from "../../kube/index.ts";
import { machineId } from "../machine/machine-id.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { OperatorError } from "../steps/fault.ts";
import { until } from "../steps/until.ts";

/** Throws an OperatorError where another machine is at work as the node of this one's name: Kubernetes knows machines by these only. */
export async function refuseNamesake(client: KubeClient, machine: ThisMachine): Promise<void> {
  if (await hasNamesake(client, machine).catch(refuseOlderCluster)) throw new OperatorError(namesake(machine));
}

/** For what a token may read: throws an OperatorError where an earlier gardenadm has given tokens less to read, else what was thrown. */
export function refuseOlderCluster(cause: unknown): never {
  if (!isForbidden(cause)) throw cause;
  throw new OperatorError(
    "this cluster does not let a token read what a machine that joins has to know: run 'gardenadm init' of this version on a node of its control plane first",
    { cause },
  );
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

/**
 * The same for one whose kubelet is silent while its etcds answer: what is written for the machine that joins would give these addresses
 * that they have not got. Needs an administrator's client.
 */
export async function refuseNamesakesEtcd(
  client: KubeClient,
  machine: ThisMachine,
  signal: AbortSignal,
): Promise<void> {
  const { root, hostName: name, addresses: own } = machine;
  const node = await client.read(Node, { name });
  if (node === undefined || node.status?.nodeInfo?.machineID === (await machineId(root))) return;
  const others = (node.status?.addresses ?? []).flatMap(({ type, address }) =>
    type === "InternalIP" && !own.includes(address) ? [address] : [],
  );
  const { data } = (await client.read(Secret, { namespace: SYSTEM_NAMESPACE, name: "ca-etcd" })) ?? {};
  const authority = Buffer.from(data?.["ca.crt"] ?? "", "base64").toString();
  const urls = others.flatMap((address) =>
    ETCDS.map((role) => nodeUrl({ name, addresses: [address] }, etcdPorts(role, { nodes: [] }).client)),
  );
  for (const url of urls) if (await isMemberAt(url, authority, signal)) throw new OperatorError(namesake(machine));
}

/** Whether the Node of this machine's name is ready, and another machine. */
async function hasNamesake(client: KubeClient, { root, hostName }: ThisMachine): Promise<boolean> {
  const node = await client.read(Node, { name: hostName });
  return node !== undefined && isReady(node) && node.status?.nodeInfo?.machineID !== (await machineId(root));
}

const namesake = ({ hostName }: ThisMachine): string =>
  `node ${hostName} is another machine, which is at work: give this one another name with 'hostnamectl hostname NAME'; where this one has lost its disk, wait a minute until the Node is not ready any more`;
