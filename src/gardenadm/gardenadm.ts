import type { Program } from "../cli/program.ts";
import type { GardenadmContext } from "./context.ts";
import { registry } from "./registry.ts";

/** The program `gardenadm`. */
export const gardenadm: Program<GardenadmContext> = {
  name: "gardenadm",
  description: "Makes machines a Kubernetes cluster that carries its own control plane, and keeps it one.",
  exits: {
    unreachable: "the cluster does not answer",
    timeout: "the timeout passed; the same command goes on there",
    interrupted: "interrupted; the same command goes on there",
  },
  groups: registry,
};
