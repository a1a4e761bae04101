import { defineFlow, type Condition } from "../../flow/flow.ts";
import { rowsWith, type Row } from "../steps/row.ts";

/** What is done to take a node out of its cluster. */
export type ResetAction =
  "safety" | "turn" | "drained" | "agentStopped" | "members" | "node" | "exposure" | "machine" | "leftovers";

/** The facts that decide which steps are done. */
export interface ResetRun {
  /** The node carries the control plane. */
  readonly isControlPlane: boolean;
  /** This machine is the node. */
  readonly isHere: boolean;
  /** There is a cluster, and it does not end with this node. */
  readonly clusterGoesOn: boolean;
}

const when = (text: string, holds: (run: ResetRun) => boolean): Condition<ResetRun> => ({ text, holds });
const clusterGoesOn = when("a cluster goes on without the node", ({ clusterGoesOn }) => clusterGoesOn);
const carriesControlPlane = when("the node carries the control plane", ({ isControlPlane }) => isControlPlane);
const isHere = when("this machine is the node", (run) => run.isHere);

const row = rowsWith<ResetAction>();

/** Takes a node out of its cluster, and from the machine what makes it one. */
// prettier-ignore
export const resetNode = defineFlow<ResetRun, Row<ResetAction>, ResetAction>("Reset a node", {
  safety: { ...row("safety", "sees that etcd keeps its quorum, and workers their control plane"), when: [clusterGoesOn] },
  turn: { ...row("turn", "waits until no node joins, and no other command changes the control plane", "safety"), when: [clusterGoesOn, carriesControlPlane] },
  drained: { ...row("drained", "takes new pods off the node, and has those that are there go elsewhere", "turn"), when: [clusterGoesOn] },
  agentStopped: { ...row("agentStopped", "stops the agent, which would put back what goes", "drained"), when: [isHere] },
  exposure: { ...row("exposure", "takes the node's address out of where others find the API servers", "agentStopped"), when: [clusterGoesOn, carriesControlPlane] },
  members: { ...row("members", "moves the lead off the node's etcds, and takes them out of their clusters", "exposure"), when: [clusterGoesOn, carriesControlPlane] },
  node: { ...row("node", "ends the kubelet, and removes the Node, its agent's Lease, its certificates and settings", "members"), when: [clusterGoesOn] },
  machine: { ...row("machine", "ends pods and units, and removes all files that gardenadm has written", "node"), when: [isHere] },
  leftovers: { ...row("leftovers", "removes what kubelet, containers and network plugins have left", "machine"), when: [isHere] },
});
