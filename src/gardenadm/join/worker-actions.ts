import { join } from "node:path";
import { NODE_INIT } from "../../components/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { readRecord, RECORD_PATH } from "../../node-agent/record.ts";
import { UNIT_FOLDER, type MachineConfig } from "../../node-agent/wanted.ts";
import { giveKubeletToken } from "../node-agent/kubelet-access.ts";
import { readMachineOrder } from "../cluster/machine-order.ts";
import { kubeletAnswers } from "../machine/kubelet-answers.ts";
import { createKnown } from "../steps/known.ts";
import { until } from "../steps/until.ts";
import type { WorkerAction } from "./join-worker.ts";
import { refuseNamesake } from "./namesake.ts";
import { createNewcomer, nodeReady, type JoinDeps } from "./newcomer.ts";
import { readOrder } from "./prospect.ts";
import type { Actions } from "../steps/tables.ts";
import { isThere } from "../machine/is-there.ts";
import { createClusterClient } from "../cluster/client.ts";

/** What each step does. */
export function createWorkerActions(deps: JoinDeps): Actions<WorkerAction> {
  const { machine } = deps;
  const newcomer = createNewcomer(deps);
  const { known, get } = createKnown<{ agent: KubeClient }>();
  const orderOfPool = async () =>
    readMachineOrder(await readOrder(get("agent"), newcomer.get("prospect").secretName)).config;

  const actions: Actions<WorkerAction>["actions"] = {
    preflight: newcomer.preflight,
    trust: newcomer.trust,
    access: async () => await refuseNamesake(await newcomer.approach(), machine),
    async place(scope) {
      await newcomer.choose();
      await newcomer.enter(scope);
      const { kubeconfig: file } = newcomer.get("identity").places;
      known.agent = createClusterClient({ file }, { userAgent: "gardenadm" });
    },
    async nodeInit(scope) {
      const init = onlyInit(await orderOfPool());
      if (!(await isBeyond(init, machine.root))) await newcomer.apply(init, scope);
    },
    async nodeAgent(scope) {
      const config = await orderOfPool();
      await giveKubeletToken(newcomer.get("identity"));
      await newcomer.apply(config, scope);
    },
    kubelet: kubeletAnswers,
    node: async (scope) => await nodeReady(get("agent"), machine.hostName, scope),
    async accessOver(scope) {
      const { token, kubeletBootstrap } = newcomer.get("identity").places;
      await until("the agent has not taken the token off the machine", scope, async () => {
        return !(await isThere(token)) && !(await isThere(kubeletBootstrap));
      });
    },
  };
  return { actions, close: async () => void (await Promise.all([newcomer.close(), known.agent?.close()])) };
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
