import { join } from "node:path";
import { NODE_INIT, type ControlPlaneContext } from "../../components/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { applyMachine } from "../../node-agent/apply-machine.ts";
import { readRecord, RECORD_PATH } from "../../node-agent/record.ts";
import { UNIT_FOLDER, type MachineConfig } from "../../node-agent/wanted.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { giveKubeletToken } from "../node-agent/kubelet-access.ts";
import { waitForLock } from "../machine/lock.ts";
import { noSecret, readMachineOrder } from "../cluster/machine-order.ts";
import { kubeletAnswers } from "../machine/kubelet-answers.ts";
import { until } from "../steps/until.ts";
import type { WorkerAction } from "./join-worker.ts";
import {
  agentClient,
  enter,
  nodeReady,
  preflightFor,
  readCluster,
  readOrder,
  refuseNamesake,
  takePlace,
  type JoinDeps,
} from "./newcomer.ts";
import type { Actions } from "../steps/tables.ts";
import { trustCluster, type TrustedCluster } from "./trust.ts";
import { isThere } from "../machine/is-there.ts";

/** What the steps of one command have found out. */
interface Known {
  cluster?: TrustedCluster;
  identity?: AgentIdentity;
  client?: KubeClient;
  context?: ControlPlaneContext;
  secretName?: string;
}

/** What each step does. */
export function createWorkerActions({ machine, invitation, proof }: JoinDeps): Actions<WorkerAction> {
  const known: Known = {};
  const actions: Actions<WorkerAction>["actions"] = {
    preflight: async (scope) => await preflightFor(machine, "worker", scope),
    async trust(scope) {
      known.cluster = await trustCluster(invitation.address, proof, scope);
    },
    async access({ signal }) {
      known.identity = await enter(machine, found(known.cluster), invitation, signal);
      known.client = agentClient(known.identity);
      await refuseNamesake(known.client, machine);
    },
    async place() {
      known.context = await readCluster(found(known.client));
      known.secretName = (await takePlace(found(known.identity), machine, known.context, invitation)).secretName;
    },
    async nodeInit({ signal, tell }) {
      const { root } = machine;
      const order = readMachineOrder(await readOrder(found(known.client), found(known.secretName)));
      const init = onlyInit(order.config);
      if (await isBeyond(init, root)) return;
      await waitForLock(found(known.identity).places.lock, signal, async () => {
        await applyMachine({ ...machine, readSecret: noSecret }, init, { signal, tell });
      });
    },
    async nodeAgent({ signal, tell }) {
      const { places } = found(known.identity);
      const order = readMachineOrder(await readOrder(found(known.client), found(known.secretName)));
      await giveKubeletToken(found(known.identity));
      await waitForLock(places.lock, signal, async () => {
        await applyMachine({ ...machine, readSecret: noSecret }, order.config, { signal, tell });
      });
    },
    kubelet: kubeletAnswers,
    node: async (scope) => await nodeReady(found(known.client), machine.hostName, scope),
    async accessOver(scope) {
      const { token, kubeletBootstrap } = found(known.identity).places;
      await until("the agent has not taken the token off the machine", scope, async () => {
        return !(await isThere(token)) && !(await isThere(kubeletBootstrap));
      });
    },
  };
  return { actions, close: async () => await known.client?.close() };
}

/** The unit that the agent's program comes from, and what it reads. */
function onlyInit({ spec: { files = [], units = [] } }: MachineConfig): MachineConfig {
  const init = units.filter(({ name }) => name === NODE_INIT);
  const paths = init.flatMap(({ filePaths = [] }) => filePaths);
  return { spec: { files: files.filter(({ path }) => paths.includes(path)), units: init } };
}

/** Whether more than this was begun on the machine: applied anew, it would take that away. */
async function isBeyond({ spec: { files = [], units = [] } }: MachineConfig, root: string): Promise<boolean> {
  const last = await readRecord(join(root, RECORD_PATH));
  const own = [...files.map(({ path }) => path), ...units.map(({ name }) => `${UNIT_FOLDER}/${name}`)];
  return last.files.some(({ path }) => !own.includes(path));
}

/** Steps come in their order, and each of them in every run. */
function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a step before this one has not said what it has found");
  return value;
}
