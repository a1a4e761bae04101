import { BOOTSTRAPPER_GROUPS } from "../../api/names.ts";
import { formatDuration } from "../../cli/display/time.ts";
import { CliError } from "../../cli/exit.ts";
import { alongside, duration, flag, optional, text, type Option } from "../../cli/option.ts";
import {
  bootstrapTokenSecret,
  generateBootstrapToken,
  isAlreadyExists,
  renderBootstrapToken,
  type BootstrapToken,
  type BootstrapTokenUse,
  type KubeClient,
} from "../../kube/index.ts";
import { clusterOptions } from "../connection.ts";
import { defineCommand } from "../context.ts";
import { findJoinTarget, joinCommand } from "./join-command.ts";
import { readToken } from "./token.ts";

/** `gardenadm token create` */
export const create = defineCommand({
  name: "create",
  summary: "Make a bootstrap token, with which machines can join until it expires",
  description:
    "It lets worker nodes join, and with --control-plane nodes of the control plane. The token, or the command line to paste on a machine, " +
    "is all that is printed to standard output; a line that needs sudo takes it after the `|`.",
  examples: [
    "gardenadm token create --print-join-command",
    "gardenadm token create --control-plane --validity 10m --print-join-command",
    "gardenadm token generate | gardenadm token create -",
  ],
  args: { token: optional("The token to be made, or - to read it from standard input; without it, a random one") },
  options: {
    bootstrapTokenFile: text("file", "Read the token from this file, so that no list of processes shows it"),
    validity: validity(),
    description: text("text", "What the token is for, as lists show it"),
    controlPlane: flag("Let nodes of the control plane join"),
    printJoinCommand: flag("Print the command line by which a machine joins", "j"),
    server: alongside(
      "printJoinCommand",
      text("address", "the API server's HOST:PORT as machines reach it [the kubeconfig's, or what it advertises]"),
    ),
    ...clusterOptions,
  },
  async run({ args, options, context }) {
    const { controlPlane: isControlPlane, description } = options;
    const given = await readToken({ ...args, ...options }, context);
    const cluster = await context.cluster(options);
    const target = options.printJoinCommand ? await findJoinTarget(cluster, options.server) : undefined;
    const token = given ?? generateBootstrapToken();
    const role = isControlPlane ? "control-plane" : "worker";
    await createToken(cluster.client, token, {
      description: description ?? `Lets ${role} nodes join.`,
      expiresAt: context.now() + options.validity,
      groups: [BOOTSTRAPPER_GROUPS[role]],
      signsClusterInfo: true,
    });
    const { out, err } = context.terminal;
    err.write(`bootstrap token ${token.id} lets ${role} nodes join for ${formatDuration(options.validity)}\n`);
    out.write(`${target ? joinCommand({ ...target, token, isControlPlane }) : renderBootstrapToken(token)}\n`);
  },
});

async function createToken(client: KubeClient, token: BootstrapToken, use: BootstrapTokenUse): Promise<void> {
  await client.create(bootstrapTokenSecret(token, use)).catch((cause: unknown) => {
    if (!isAlreadyExists(cause)) throw cause;
    const { id } = token;
    const remedy = `delete it with 'gardenadm token delete ${id}', or take a token with another id`;
    throw new CliError("failed", `bootstrap token ${id} exists already: ${remedy}`, { cause });
  });
}

/** In ms. */
const HOUR = 3_600_000;

function validity(): Option<number> {
  const option = duration("How long machines can join with it, from 10m to 24h [1h]");
  return {
    ...option,
    parse(texts, name) {
      const given = option.parse(texts, name) ?? HOUR;
      if (given >= HOUR / 6 && given <= 24 * HOUR) return given;
      throw new CliError("usage", `${name} cannot be "${texts.at(-1) ?? ""}": use a time from 10m to 24h`);
    },
  };
}
