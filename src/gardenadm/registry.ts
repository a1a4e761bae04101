import type { Group } from "../cli/group.ts";
import type { GardenadmContext } from "./context.ts";

/** Every verb there is, in the order of the help; a new one is its file and one line here. */
export const registry: readonly Group<GardenadmContext>[] = [
  {
    name: "discover",
    summary: "Write the configuration of a Shoot from a garden: all that it needs, a file for each object",
    load: async () => (await import("./discover/discover.ts")).discover,
  },
  {
    name: "init",
    summary: "Make this machine the first node of a cluster that carries its own control plane",
    load: async () => (await import("./init/init.ts")).init,
  },
  {
    name: "join",
    summary: "Make this machine a node of a cluster that is there",
    load: async () => (await import("./join/join.ts")).join,
  },
  {
    name: "reset",
    summary: "Take a node out of its cluster, and from this machine what made it one",
    load: async () => (await import("./reset/reset.ts")).reset,
  },
  {
    name: "status",
    summary: "Say how this machine and its cluster are, also while nothing answers, and what to do next",
    load: async () => (await import("./status/status.ts")).status,
  },
  {
    name: "token",
    summary: "Bootstrap tokens, with which machines join: make them, look at them, take them back",
    verbs: [
      async () => (await import("./token/generate.ts")).generate,
      async () => (await import("./token/create.ts")).create,
      async () => (await import("./token/list.ts")).list,
      async () => (await import("./token/delete.ts")).deleteTokens,
    ],
  },
  {
    name: "completion",
    summary: "Print what completes these command lines in a shell",
    load: async () => (await import("../cli/completion/completion.ts")).createCompletion("gardenadm", () => registry),
  },
  {
    name: "version",
    summary: "Print the version, and the versions that it serves",
    load: async () => (await import("./version.ts")).version,
  },
];
