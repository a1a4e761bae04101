import * as z from "zod";
import { declare, path } from "./variable.ts";

/** Where the local environment is, and what its provider is told of it. */
export const localVariables = declare({
  PERENNIAL_ENVIRONMENT: {
    setting: "environment",
    meaning: "The name of the local environment.",
    schema: z.string().min(1).default("local"),
    readBy: ["local provider of the garden", "local provider of a seed", "CLI"],
  },
  PERENNIAL_STATE_DIR: {
    setting: "stateDir",
    meaning:
      "The folder of the local environment. Without it, `/var/lib/perennial/NAME` for root, `~/.local/state/perennial/NAME` for other users.",
    schema: path,
    readBy: ["local provider of a seed", "CLI", "local environment"],
  },
  PERENNIAL_CACHE_DIR: {
    setting: "cacheDir",
    meaning:
      "The folder of downloaded and built binaries and images, which clones of the repository share. Without it, `~/.cache/perennial`.",
    schema: path,
    readBy: ["local environment"],
    passedOn: true,
  },
  PERENNIAL_MACHINES_SOCKET: {
    setting: "machinesSocket",
    meaning:
      "The socket at which the host answers for its machines, for a local provider in a pod. Without it, the provider makes machines itself.",
    schema: path,
    readBy: ["local provider of a seed"],
  },
  PERENNIAL_HEARTBEAT_NAMESPACE: {
    setting: "heartbeatNamespace",
    meaning: "The namespace in which the local provider renews its Lease `gardener-extension-heartbeat`.",
    schema: z.string().min(1).default("default"),
    readBy: ["local provider of a seed", "local provider of a self-hosted cluster"],
  },
  PERENNIAL_DNS_SERVER: {
    setting: "dnsServer",
    meaning:
      "`address` or `address:port` of the local environment's DNS server. The local provider writes DNSRecords there that name no server of their own; the CLI asks it for Shoots' addresses.",
    schema: z.string().min(1).optional(),
    readBy: ["local provider of a seed", "CLI"],
  },
  PERENNIAL_DNS_KEY_FILE: {
    setting: "dnsKeyFile",
    meaning: "The file of the key that signs updates of that server. Without it, the local provider has no DNS server.",
    schema: path,
    readBy: ["local provider of a seed"],
  },
});
