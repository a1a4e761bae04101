import { defineFlow } from "../../flow/flow.ts";
import { rowsWith, type Row } from "../steps/row.ts";

/** What is done on a machine that becomes a node without a control plane. */
export type WorkerAction =
  "preflight" | "trust" | "access" | "place" | "nodeInit" | "nodeAgent" | "kubelet" | "node" | "accessOver";

const row = rowsWith<WorkerAction>();

/** Makes a machine a worker node of a cluster that carries its own control plane. */
export const joinWorker = defineFlow<undefined, Row<WorkerAction>, WorkerAction>("Join a worker node", {
  preflight: row("preflight", "looks whether this machine can be a node"),
  trust: row(
    "trust",
    "asks the API server for its cluster, and sees by the token and the authority that it is the right one",
    "preflight",
  ),
  access: row(
    "access",
    "finds by what the cluster is asked, and sees that no other machine is the node of this name",
    "trust",
  ),
  place: row(
    "place",
    "chooses pool and zone, gets a certificate for this machine, and writes what its agent comes in with",
    "access",
  ),
  nodeInit: row("nodeInit", "starts the unit that takes the cluster's gardenadm out of its image", "place"),
  nodeAgent: row("nodeAgent", "makes the machine what its pool's Secret says; its agent keeps it so", "nodeInit"),
  kubelet: row("kubelet", "waits for the kubelet, which comes in by the token", "nodeAgent"),
  node: row("node", "waits for the Node to be ready", "kubelet"),
  accessOver: row("accessOver", "sees that the token is off the machine", "node"),
});
