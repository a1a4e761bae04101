import { defineFlow } from "../../flow/flow.ts";
import { rowsWith, type Row } from "../steps/row.ts";

/** What is done on a machine that becomes a node of the control plane. */
export type ControlPlaneAction =
  | "preflight"
  | "trust"
  | "access"
  | "turn"
  | "certificates"
  | "staleMember"
  | "learners"
  | "machine"
  | "synced"
  | "promoted"
  | "staticPods"
  | "node"
  | "exposure"
  | "accessOver";

const row = rowsWith<ControlPlaneAction>();

/**
 * Makes a machine a node of the control plane: its etcds learn first, without a vote, so that one that never comes costs no quorum;
 * its API server begins once they have one.
 */
// prettier-ignore
export const joinControlPlane = defineFlow<undefined, Row<ControlPlaneAction>, ControlPlaneAction>("Join a control-plane node", {
  preflight: row("preflight", "looks whether this machine can carry a control plane"),
  trust: row("trust", "asks the API server for its cluster, and sees by the token and the authority that it is the right one", "preflight"),
  access: row("access", "gets an administrator's rights by the token; sees that there is a place for this machine, and that no other one is the node of this name", "trust"),
  turn: row("turn", "waits until no other node joins, and no other command changes the control plane", "access"),
  certificates: row("certificates", "gets a certificate for this machine, the first thing that is written on it; makes those of the node, and says in its pool's Secret what it is to be", "turn"),
  staleMember: row("staleMember", "takes dead members of this name out of etcd, if quorum allows, and learners that have never started, at the address of no node", "certificates"),
  learners: row("learners", "adds this node to both etcds, without a vote", "staleMember"),
  machine: row("machine", "writes files and starts units, and of the static pods only etcd", "learners"),
  synced: row("synced", "waits until both etcds have what their leaders have", "machine"),
  promoted: row("promoted", "gives both etcds their vote", "synced"),
  staticPods: row("staticPods", "starts API server, controllers and agent, and waits for them", "promoted"),
  node: row("node", "marks the Node as one of the control plane, and waits for it to be ready", "staticPods"),
  exposure: row("exposure", "adds the address of this node where others find the API servers", "node"),
  accessOver: row("accessOver", "gives the turn back, and sees that the token is off the machine", "exposure"),
});
