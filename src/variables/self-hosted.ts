import * as z from "zod";
import { declare } from "./variable.ts";

const agent = ["network agent"] as const;

/** What the local provider of a self-hosted cluster is told, and its agents on the cluster's nodes. */
export const selfHostedVariables = declare({
  PERENNIAL_NETWORK_AGENT_IMAGE: {
    setting: "networkAgentImage",
    meaning:
      "The image of this very program, out of which a local provider lets each node run a network agent. A local provider that has it acts in the self-hosted cluster that its pod runs in.",
    schema: z.string().min(1).optional(),
    readBy: ["local provider of a self-hosted cluster"],
    requiredBy: ["local provider of a self-hosted cluster"],
  },
  PERENNIAL_NETWORK_AGENT_CONTENT: {
    setting: "networkAgentContent",
    meaning: "What changes with that image's content where its name stays: agents are replaced then.",
    schema: z.string().default(""),
    readBy: ["local provider of a self-hosted cluster"],
  },
  PERENNIAL_NODE_NAME: {
    setting: "nodeName",
    meaning: "The name of the Node that a network agent runs on.",
    schema: z.string().min(1).optional(),
    readBy: agent,
    requiredBy: agent,
  },
  PERENNIAL_POD_NETWORK: {
    setting: "podNetwork",
    meaning: "The range of all pods' addresses, such as `10.184.0.0/16`: what leaves it bears the node's address.",
    schema: z.cidrv4().optional(),
    readBy: agent,
    requiredBy: agent,
  },
});
