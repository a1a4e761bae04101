import { CliError } from "../../cli/exit.ts";
import { several } from "../../cli/option.ts";
import { bootstrapTokenRef, matchBootstrapToken } from "../../kube/index.ts";
import { clusterOptions } from "../connection.ts";
import { defineCommand } from "../context.ts";

/** `gardenadm token delete` */
export const deleteTokens = defineCommand({
  name: "delete",
  summary: "Delete bootstrap tokens: no machine joins with them any more",
  description: "Nodes that have joined stay. One that is gone already is fine.",
  examples: ["gardenadm token delete abcdef", "gardenadm token delete bootstrap-token-abcdef bootstrap-token-ghijkl"],
  args: { token: several("Its ID, the whole token, or the name of its Secret; - reads them from standard input") },
  options: clusterOptions,
  async run({ args, options, context }) {
    const words = args.token.includes("-") ? (await context.input()).split(/\s+/).filter(Boolean) : [];
    const ids = [...args.token.filter((word) => word !== "-"), ...words].map(parseID);
    if (ids.length === 0) throw new CliError("usage", "standard input names no bootstrap token: write its ID there");
    const { client } = await context.cluster(options);
    for (const id of new Set(ids)) {
      const ref = bootstrapTokenRef(id);
      const isThere = (await client.read(ref)) !== undefined;
      await client.remove(ref);
      context.terminal.out.write(`bootstrap token ${id} ${isThere ? "deleted" : "is gone already"}\n`);
    }
  },
});

/** Never says what the text is: a misspelt token is nearly one. */
function parseID(text: string, index: number): string {
  const id = matchBootstrapToken(text)?.id ?? /^(?:bootstrap-token-)?([a-z0-9]{6})$/.exec(text)?.[1];
  if (id !== undefined) return id;
  throw new CliError(
    "usage",
    `word ${index + 1} names no bootstrap token: say its ID of 6 characters, the whole token with its dot, or bootstrap-token-ID`,
  );
}
