import { generateBootstrapToken, renderBootstrapToken } from "../../kube/bootstrap-token.ts";
import { defineCommand } from "../context.ts";

/** `gardenadm token generate` */
export const generate = defineCommand({
  name: "generate",
  summary: "Print a random bootstrap token, which no cluster knows yet",
  description: "It asks no cluster. `gardenadm token create` makes the token known.",
  examples: ["gardenadm token generate"],
  args: {},
  options: {},
  async run({ context }) {
    context.terminal.out.write(`${renderBootstrapToken(generateBootstrapToken())}\n`);
  },
});
