import { KUBELET_UNIT, NODE_AGENT_UNIT } from "../../api/names.ts";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { ETCDS, components, type ControlPlaneNode } from "../../components/index.ts";
import type { Member } from "../../etcd/answers.ts";
import { nameOf } from "../../etcd/status.ts";
import { riskOfRemoval } from "../../etcd/quorum.ts";
import type { StepScope } from "../../in-process/run.ts";
import { Node, type KubeClient } from "../../kube/index.ts";
import { readClusterContext } from "../cluster/control-plane.ts";
import { OperatorError } from "../steps/fault.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { removeNodeObjects } from "../cluster/node-objects.ts";
import { applyAll } from "../cluster/apply-all.ts";
import { membersOf } from "../cluster/members.ts";
import { exposeControlPlane } from "../cluster/exposure.ts";
import { orderMachines } from "../cluster/roll-out.ts";
import type { Actions } from "../steps/tables.ts";
import { takeTurn, type ClusterTurn } from "../cluster/turn.ts";
import { noteDeparture } from "../machine/departure.ts";
import { carriesControlPlane } from "../machine/traces.ts";
import { isLeaving } from "./leaving-members.ts";
import { drain } from "./drain.ts";
import { bareMachine, removeLeftovers } from "./machine.ts";
import type { ResetAction, ResetRun } from "./reset-node.ts";

/** What the steps work with. */
export interface ResetDeps {
  readonly machine: ThisMachine;
  /** The node that goes. */
  readonly node: string;
  /** The cluster as an administrator sees it, through an API server of another node where this one goes; undefined where it ends. */
  readonly client: KubeClient | undefined;
  readonly run: ResetRun;
  /** The machine does not answer any more: its pods are not waited for. */
  readonly machineIsGone: boolean;
}

/** What each step does. Each looks first; what is gone already is left alone. */
export function createResetActions({
  machine,
  node,
  client: found,
  run,
  machineIsGone,
}: ResetDeps): Actions<ResetAction> {
  let turn: ClusterTurn | undefined;
  const endTurn = async () => {
    await turn?.end();
    turn = undefined;
  };
  const client = (): KubeClient => {
    if (found === undefined) throw new Error("there is no cluster");
    return found;
  };
  const others = async (): Promise<readonly ControlPlaneNode[]> =>
    ((await readClusterContext(client())).nodes ?? []).filter(({ name }) => name !== node);
  const leaving = async () =>
    await isLeaving(client(), { node, addresses: run.isHere ? machine.addresses : [], machineIsGone });

  const actions: Actions<ResetAction>["actions"] = {
    async safety(scope) {
      if (run.isControlPlane) await refuseLoss(await others(), await leaving(), { ...scope, root: machine.root });
    },
    async turn(scope) {
      turn = await takeTurn(client(), machine, scope);
    },
    async drained(scope) {
      if (!machineIsGone) await drain(client(), node, scope);
    },
    async agentStopped({ signal }) {
      await machine.systemctl(["stop", NODE_AGENT_UNIT], signal).catch(() => "");
    },
    async members(scope) {
      for (const role of ETCDS) {
        const membership = membersOf(role, await others(), { ...scope, root: machine.root });
        for (const own of (await membership.readMembers()).filter(await leaving())) {
          if (own.started) await membership.moveLeaderAway(own.id);
          await membership.removeMember(own.id);
        }
      }
    },
    async node({ signal }) {
      if (run.isHere) await endKubelet(machine, signal);
      await removeNodeObjects(client(), node);
      await endTurn(); // what is left to do is this machine's
    },
    async exposure(scope) {
      const known = await readClusterContext(client());
      await exposeControlPlane(client(), known, scope, { without: node });
      const context = { ...(await readClusterContext(client())), nodes: await others() };
      await orderMachines(client(), context);
      await applyAll(client(), components["kube-proxy"].objects(context));
    },
    async machine(scope) {
      await noteDeparture(machine.root);
      await bareMachine(machine, scope);
    },
    leftovers: async (scope) => await removeLeftovers(machine, scope),
  };
  return {
    actions,
    within: (scope) => turn?.within(scope) ?? scope,
    close: async () => void (await Promise.all([endTurn(), found?.close()])),
  };
}

/** A kubelet that begins again, as after a power cut, would make the Node anew. */
async function endKubelet({ systemctl }: ThisMachine, signal: AbortSignal): Promise<void> {
  for (const unit of [NODE_AGENT_UNIT, KUBELET_UNIT]) await systemctl(["disable", unit], signal).catch(() => "");
  await systemctl(["stop", KUBELET_UNIT], signal).catch(() => "");
}

/** Etcd has a check of its own, when it is too late for the pods. */
async function refuseLoss(
  others: readonly ControlPlaneNode[],
  leaving: (member: Member) => boolean,
  scope: StepScope & { readonly root: string },
): Promise<void> {
  for (const role of ETCDS) {
    const statuses = await membersOf(role, others, scope).readStatus();
    for (const { member } of statuses.filter((status) => leaving(status.member))) {
      const risk = riskOfRemoval(statuses, member.id);
      if (risk === undefined) continue;
      throw new OperatorError(`cannot take ${nameOf(member)} out of etcd-${role}: ${risk.reason}`);
    }
  }
}

/**
 * The facts about a node that is to go, as its cluster has them, or, where its Node has gone already, this machine, whose `/` is
 * `root`. Throws an OperatorError where workers would lose their control plane.
 */
export async function readResetRun(
  client: KubeClient,
  node: string,
  { isHere, root }: { readonly isHere: boolean; readonly root: string },
): Promise<ResetRun> {
  const nodes = await client.list(Node);
  const carries = ({ metadata }: Node) => metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined;
  const own = nodes.find(({ metadata }) => metadata.name === node);
  const isBegun = (isHere || own === undefined) && (await carriesControlPlane(root));
  const isControlPlane = isBegun || (own !== undefined && carries(own));
  const others = nodes.filter(({ metadata }) => metadata.name !== node);
  const isLast = isControlPlane && !others.some(carries);
  if (isLast && others.length > 0)
    throw new OperatorError(
      `node ${node} is the last one of the control plane, and ${others.map(({ metadata }) => metadata.name).join(", ")} would be without: reset these first`,
    );
  return { isControlPlane, isHere, clusterGoesOn: !isLast };
}
