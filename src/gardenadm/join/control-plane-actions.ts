import { ensureSecrets } from "../../activities/secrets/secrets.ts";
import { ETCDS, components, type ControlPlaneContext, type ControlPlaneNode } from "../../components/index.ts";
import { holdToData } from "../../etcd-data/let-start.ts";
import { dataPlaceOf } from "../../etcd-data/place.ts";
import { addressesBeside } from "../cluster/members.ts";
import type { StepScope } from "../../in-process/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { controlPlanePool } from "../../self-hosted/machine-config.ts";
import { readControlPlane, readMade } from "../cluster/control-plane.ts";
import { OperatorError } from "../steps/fault.ts";
import { markNode } from "../cluster/mark-node.ts";
import { readMachineOrder, type MachineOrder } from "../cluster/machine-order.ts";
import { manifestPods } from "../node-agent/manifests.ts";
import { podsReady } from "../node-agent/readiness.ts";
import { noteShoot } from "../cluster/own-shoot.ts";
import { applyAll } from "../cluster/apply-all.ts";
import { exposeControlPlane } from "../cluster/exposure.ts";
import { orderMachines } from "../cluster/roll-out.ts";
import type { Actions } from "../steps/tables.ts";
import { takeTurn, type ClusterTurn } from "../cluster/turn.ts";
import { refuseNewKeys } from "../cluster/refuse-new-keys.ts";
import { createKnown } from "../steps/known.ts";
import { until } from "../steps/until.ts";
import { administratorOf } from "./administrator.ts";
import type { ControlPlaneAction } from "./join-control-plane.ts";
import { createNewcomer, nodeReady, type JoinDeps } from "./newcomer.ts";
import { refuseLiveNamesake, refuseNamesakesEtcd } from "./namesake.ts";
import { createOwnMembers } from "./own-members.ts";
import { readOrder } from "./prospect.ts";
import { atStage, type Stage } from "./stages.ts";
import { isThere } from "../machine/is-there.ts";

/** What the steps of one command find out besides. */
interface FoundHere {
  administrator: KubeClient;
  turn: ClusterTurn;
  context: ControlPlaneContext;
  order: MachineOrder;
}

/** What each step does. Each looks first; what is there already is left alone. */
export function createControlPlaneActions(deps: JoinDeps): Actions<ControlPlaneAction> {
  const { machine } = deps;
  const newcomer = createNewcomer(deps);
  const { known, get } = createKnown<FoundHere>();
  const apply = async (stage: Stage, scope: StepScope) =>
    await newcomer.apply(await atStage(get("order").config, stage, machine.root), scope);
  const read = async () => {
    const made = await readMade(get("administrator"));
    return await readControlPlane(get("administrator"), made, machine, made.shoot.metadata.uid ?? "");
  };
  const members = () => createOwnMembers({ root: machine.root, ...sides(get("context"), machine.hostName) });

  const actions: Actions<ControlPlaneAction>["actions"] = {
    preflight: newcomer.preflight,
    trust: newcomer.trust,
    async access(scope) {
      await newcomer.approach();
      const { order } = await newcomer.choose();
      await known.administrator?.close();
      known.administrator = administratorOf(order.config, machine.hostName, newcomer.get("way"));
      refuseTooMany(await read());
      await refuseLiveNamesake(known.administrator, machine, scope);
      await refuseNamesakesEtcd(known.administrator, machine, scope.signal);
    },
    async turn(scope) {
      known.turn ??= await takeTurn(get("administrator"), machine, scope);
      known.context = await read();
      refuseTooMany(known.context); // another may have joined meanwhile
      await refuseNamesakesEtcd(get("administrator"), machine, scope.signal);
    },
    async certificates(scope) {
      await newcomer.enter(scope);
      await ensureSecrets(get("administrator"), get("context"), { kept: refuseNewKeys });
      known.context = await read();
      await orderMachines(get("administrator"), known.context, "control-plane");
      const { secretName } = newcomer.get("prospect");
      known.order = readMachineOrder(await readOrder(get("administrator"), secretName));
      await apply("files", scope);
    },
    async staleMember(scope) {
      await members().removeStale(scope, await addressesBeside(get("administrator"), machine.hostName));
    },
    learners: async (scope) => await members().addLearners(scope),
    machine: async (scope) => await apply("etcd", scope),
    synced: async (scope) => await members().untilSynced(scope),
    async promoted(scope) {
      await members().promote(scope);
      for (const role of ETCDS) await holdToData(dataPlaceOf(role, machine.root));
    },
    async staticPods(scope) {
      await apply("all", scope);
      const { hostName: node, ctr } = machine;
      const limited = AbortSignal.any([scope.signal, AbortSignal.timeout(LONGEST_START)]);
      await podsReady(manifestPods(get("order").config, node), { node, ctr }, { ...scope, signal: limited });
    },
    async node(scope) {
      await markNode(get("administrator"), machine.hostName, scope);
      await nodeReady(get("administrator"), machine.hostName, scope);
      await noteShoot(machine.root, get("context").shoot);
    },
    async exposure(scope) {
      await exposeControlPlane(get("administrator"), await read(), scope);
      const context = await read();
      await orderMachines(get("administrator"), context);
      await applyAll(get("administrator"), components["kube-proxy"].objects(context));
    },
    async accessOver(scope) {
      await get("turn").end();
      const { token } = newcomer.get("identity").places;
      await until("the agent has not taken the token off the machine", scope, async () => !(await isThere(token)));
    },
  };
  return {
    actions,
    within: (scope) => known.turn?.within(scope) ?? scope,
    async close() {
      await known.turn?.end();
      await Promise.all([newcomer.close(), known.administrator?.close()]);
    },
  };
}

/** How long programs of the control plane may take to begin, in ms. */
const LONGEST_START = 300_000;

function sides({ nodes = [] }: ControlPlaneContext, hostName: string) {
  const own = nodes.find(({ name }) => name === hostName);
  if (own === undefined) throw new Error(`node ${hostName} is not among those of the control plane`);
  const others: readonly ControlPlaneNode[] = nodes.filter((node) => node !== own);
  return { own, others };
}

/** The pool says how many nodes carry the control plane; admission sees that it is a number that makes a quorum. */
function refuseTooMany(context: ControlPlaneContext): void {
  const { nodes = [] } = context;
  const pool = controlPlanePool(context);
  if (nodes.length <= pool.maximum) return;
  throw new OperatorError(
    `pool ${pool.name} has ${pool.maximum} nodes already: set its minimum and maximum to 3, 5 or 7 in the configuration, and run 'gardenadm init' on the first node again`,
  );
}
