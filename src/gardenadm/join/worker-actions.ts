import { isReady } from "../../activities/waits/readiness.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { ControlPlaneContext } from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import { Node, Secret, type KubeClient } from "../../kube/index.ts";
import { applyMachine } from "../../node-agent/apply-machine.ts";
import { OperatorError } from "../init/fault.ts";
import type { ThisMachine } from "../init/machine.ts";
import { preflightFaults } from "../init/preflight.ts";
import { isThere, type AgentIdentity } from "../node-agent/credentials.ts";
import { giveKubeletToken } from "../node-agent/kubelet-access.ts";
import { withMachine } from "../node-agent/machine-lock.ts";
import { readMachineOrder } from "../node-agent/machine-secret.ts";
import { kubeletAnswers } from "../kubelet-answers.ts";
import { until } from "../until.ts";
import type { WorkerAction } from "./join-worker.ts";
import { agentClient, enter, readCluster, takePlace, type Invitation } from "./newcomer.ts";
import { trustCluster, type Proof, type TrustedCluster } from "./trust.ts";

/** What the steps work with. */
export interface JoinDeps {
  readonly machine: ThisMachine;
  readonly invitation: Invitation;
  readonly proof: Proof;
}

/** What the steps of one command have found out. */
interface Known {
  cluster?: TrustedCluster;
  identity?: AgentIdentity;
  client?: KubeClient;
  context?: ControlPlaneContext;
  secretName?: string;
}

/** What each step does. */
export function createWorkerActions({ machine, invitation, proof }: JoinDeps): {
  readonly actions: Readonly<Record<WorkerAction, (scope: StepScope) => Promise<void>>>;
  close(): Promise<void>;
} {
  const known: Known = {};
  const actions: Readonly<Record<WorkerAction, (scope: StepScope) => Promise<void>>> = {
    async preflight() {
      const isBegun = await isThere(`${machine.root}/var/lib/gardener-node-agent`);
      const faults = await preflightFaults({ ...machine, isBegun });
      if (faults.length > 0) throw new OperatorError(faults.join("; "));
    },
    async trust({ signal }) {
      known.cluster = await trustCluster(invitation.address, proof, signal);
    },
    async access({ signal }) {
      known.identity = await enter(machine, found(known.cluster), invitation, signal);
      known.client = agentClient(known.identity);
    },
    async place() {
      known.context = await readCluster(found(known.client));
      known.secretName = (await takePlace(found(known.identity), known.context, invitation)).secretName;
    },
    nodeInit: async () => await Promise.resolve(),
    async nodeAgent({ signal, tell }) {
      const { places } = found(known.identity);
      const order = readMachineOrder(await readOrder(found(known.client), found(known.secretName)));
      await giveKubeletToken(found(known.identity));
      await withMachine(places.lock, signal, async () => {
        await applyMachine({ ...machine, readSecret: noSecret }, order.config, { signal, tell });
      });
    },
    kubelet: kubeletAnswers,
    async node(scope) {
      const { hostName } = machine;
      await until(`Node ${hostName} is not ready`, scope, async () => {
        const node = await found(known.client).read(Node, { name: hostName });
        return node === undefined ? "it does not exist" : isReady(node);
      });
    },
    async accessOver(scope) {
      const { token, kubeletBootstrap } = found(known.identity).places;
      await until("the agent has not taken the token off the machine", scope, async () => {
        return !(await isThere(token)) && !(await isThere(kubeletBootstrap));
      });
    },
  };
  return { actions, close: async () => await known.client?.close() };
}

/** Steps come in their order, and each of them in every run. */
function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a step before this one has not said what it has found");
  return value;
}

async function readOrder(client: KubeClient, name: string): Promise<Secret> {
  const secret = await client.read(Secret, { namespace: SYSTEM_NAMESPACE, name });
  if (secret !== undefined) return secret;
  throw new OperatorError(
    `Secret ${SYSTEM_NAMESPACE}/${name}, which says what the machine is to be, does not exist: 'gardenadm init' on the first node makes it`,
  );
}

/** Whoever wrote the pool's Secret has put the contents of others in it. */
async function noSecret(name: string): Promise<Buffer> {
  return await Promise.reject(new Error(`Secret ${name} is not for machines`));
}
