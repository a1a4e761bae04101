import { defineCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { CliError } from "../exit.ts";
import { chooseEnvironment, nameOption, parseSeeds, parseWebhooks } from "./options.ts";
import { choice, flag, repeated, text } from "../option.ts";
import { createPhaseDisplay } from "../display/phases.ts";
import { renderSummary } from "./summary.ts";
import type { UpOptions, UpResult } from "../../local/environment/up.ts";

/** `perennial local up` */
export const up = defineCommand({
  name: "up",
  summary: "Bring the local environment up: what is there is kept, what is missing is made",
  description:
    "Without options it makes a garden and two seeds on this machine, which takes Linux and root. " +
    "With --garden-kubeconfig it uses clusters that exist already, such as kind's.",
  examples: [
    "perennial local up",
    "perennial local up --cluster-api",
    "perennial local up --garden-kubeconfig garden.yaml --seed one=one.yaml --seed two=two.yaml",
    "perennial local up --garden-kubeconfig garden.yaml --seed one=one.yaml --webhook-host 172.18.0.1",
  ],
  args: {},
  options: {
    name: nameOption,
    gardenKubeconfig: text("file", "Use this cluster as the garden"),
    webhookHost: text(
      "address",
      "Install the admission webhooks in that garden: its API server calls this machine here",
    ),
    webhookClientCa: text("file", "Answer only callers with a certificate of this authority"),
    upstream: flag("Leave what upstream's provider-local can serve to it, and make the seeds ready for its chart"),
    providerLocal: choice(["chart"], "Install the local provider of each seed, from its chart, by registration"),
    upstreamMachines: flag("As --upstream, and have it make the machines of Shoots, which are pods of a seed"),
    clusterApi: flag("Make the garden a management cluster of Cluster API: its core manager, and ours beside it"),
    seed: repeated("name=file", "Use the cluster of this kubeconfig as a seed of this name; may be repeated"),
  },
  async run({ options, context }) {
    const seeds = parseSeeds(options.seed);
    const webhooks = parseWebhooks(options);
    const given = {
      seeds,
      upstream: options.upstream,
      clusterApi: options.clusterApi,
      ...(options.providerLocal && { providerLocal: options.providerLocal }),
      ...(options.gardenKubeconfig && { gardenKubeconfig: options.gardenKubeconfig }),
      ...(webhooks && { webhooks }),
      upstreamMachines: options.upstreamMachines,
    };
    const result = await bringUp(context, { ...chooseEnvironment(options.name, context.variables), ...given });
    if (result === undefined) return "interrupted";
    context.terminal.out.write(renderSummary(context.terminal.out, result));
    return undefined;
  },
});

/** Brings an environment up and shows its phases; undefined, and a line that says how to go on, when it was interrupted. */
export async function bringUp(context: Context, options: UpOptions): Promise<UpResult | undefined> {
  const [{ up: bring }, { phases, existingPhases, phaseTitles }] = await Promise.all([
    import("../../local/environment/up.ts"),
    import("../../local/environment/phases.ts"),
  ]);
  const names = options.gardenKubeconfig === undefined ? phases : existingPhases;
  const display = await createPhaseDisplay(context.terminal, { names, titles: phaseTitles });
  try {
    const result = await bring({ ...options, signal: context.signal }, (progress) => display.tell(progress));
    await display.end();
    return result;
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    await display.end(context.signal.aborted ? new Error("interrupted") : failure);
    if (!context.signal.aborted) throw new CliError("failed", failure.message, { cause: failure });
    context.terminal.err.write("Interrupted. What is there is kept; the same command goes on from here.\n");
    return undefined;
  }
}
