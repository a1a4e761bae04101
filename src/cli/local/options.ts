import type { EnvironmentChoice } from "../../local/environment/file.ts";
import type { Webhooks } from "../../local/environment/webhooks.ts";
import type { Variables } from "../context.ts";
import { CliError } from "../exit.ts";
import { text } from "../option.ts";

/** The option of every verb about local environments. */
export const nameOption = text("name", "Name of the environment [$PERENNIAL_ENVIRONMENT, local]");

/** Which environment is meant. */
export function chooseEnvironment(name: string | undefined, variables: Variables): EnvironmentChoice {
  const named = name ?? variables.PERENNIAL_ENVIRONMENT;
  const stateDir = variables.PERENNIAL_STATE_DIR;
  return { ...(named && { name: named }), ...(stateDir && { stateDir }) };
}

/** Reads the seeds from `name=file`; throws which one is wrong. */
export function parseSeeds(given: readonly string[]): Record<string, string> {
  const seeds: Record<string, string> = {};
  for (const seed of given) {
    const [, name, file] = /^([a-z0-9][-a-z0-9.]*)=(.+)$/.exec(seed) ?? [];
    if (!name || !file)
      throw new CliError("usage", `--seed cannot be "${seed}": use name=kubeconfig, such as seed-1=seed.yaml`);
    if (seeds[name]) throw new CliError("usage", `--seed ${name} is given twice: name each seed once`);
    seeds[name] = file;
  }
  return seeds;
}

/** Where a garden that exists reaches the webhooks; undefined where it is not said. */
export function parseWebhooks(options: {
  readonly gardenKubeconfig: string | undefined;
  readonly webhookHost: string | undefined;
  readonly webhookClientCa: string | undefined;
}): Webhooks | undefined {
  const { gardenKubeconfig, webhookHost: host, webhookClientCa: clientCaFile } = options;
  if (host === undefined && clientCaFile === undefined) return undefined;
  if (gardenKubeconfig === undefined)
    throw new CliError(
      "usage",
      "--webhook-host and --webhook-client-ca are for a garden that exists: say --garden-kubeconfig, too",
    );
  if (host === undefined) throw new CliError("usage", "--webhook-client-ca needs --webhook-host");
  return { host, ...(clientCaFile !== undefined && { clientCaFile }) };
}
