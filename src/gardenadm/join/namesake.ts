import { isReady } from "../../activities/waits/readiness.ts";
import type { StepScope } from "../../in-process/run.ts";
import { Lease, Node, type KubeClient } from "../../kube/index.ts";
import { machineId } from "../machine/machine-id.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { OperatorError } from "../steps/fault.ts";
import { until } from "../steps/until.ts";

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
