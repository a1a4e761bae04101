import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandLines } from "../api/command-lines.ts";
import { Shoot } from "../api/index.ts";
import type { KubeClient, KubeError } from "../kube/index.ts";
import type { Variables } from "./context.ts";
import { formatDuration } from "./display/time.ts";
import { CliError } from "./exit.ts";
import { kubeconfigOfVariable, type KubeconfigFile } from "./kubeconfig-file.ts";

/** The garden's kubeconfig: the option, the variables, the local environment's; throws where it looked when there is none. */
export function findKubeconfig(option: string | undefined, variables: Variables, stateDir: string): KubeconfigFile {
  if (option) return { file: option, called: option };
  const { PERENNIAL_GARDEN_KUBECONFIG: ours, KUBECONFIG: kubectls } = variables;
  if (ours) return { file: ours, called: `${ours} (from $PERENNIAL_GARDEN_KUBECONFIG)` };
  const named = kubeconfigOfVariable(kubectls);
  if (named) return named;
  const local = join(stateDir, "kubeconfigs", "garden.yaml");
  if (existsSync(local)) return { file: local, called: `${local} (the local environment's)`, isLocal: true };
  throw new CliError(
    "unreachable",
    `no garden cluster: name one with --kubeconfig, or start the local one with '${commandLines.localUp()}'`,
  );
}

/** The management cluster's kubeconfig: the option, its own variable, else the garden's, which may be the same cluster. */
export function findManagementKubeconfig(
  option: string | undefined,
  variables: Variables,
  stateDir: string,
): KubeconfigFile {
  const { PERENNIAL_MANAGEMENT_KUBECONFIG: file } = variables;
  if (option || !file) return findKubeconfig(option, variables, stateDir);
  return { file, called: `${file} (from $PERENNIAL_MANAGEMENT_KUBECONFIG)` };
}

/** Returns when a cluster has said that it serves Shoots; throws what it says within so many ms instead, and the remedy. */
export async function requireGarden(
  client: Pick<KubeClient, "get">,
  kubeconfig: KubeconfigFile,
  patience = 15_000,
): Promise<void> {
  const late = sleep(patience, silence(patience), { ref: false });
  const asked = client.get(path).catch((error: unknown) => error);
  const answer = await Promise.race([asked, late]);
  if (answer instanceof Error) throw explain(answer, kubeconfig);
  if (!servesShoots(answer)) throw noGarden(kubeconfig);
}

const path = `/apis/${Shoot.apiVersion}`;

const silence = (patience: number): Error => new Error(`nothing came within ${formatDuration(patience)}`);

function servesShoots(answer: unknown): boolean {
  const { resources = [] } = answer as { resources?: readonly { kind?: string }[] };
  return resources.some(({ kind }) => kind === Shoot.kind);
}

function explain(cause: Error, kubeconfig: KubeconfigFile): CliError {
  const { called, isLocal } = kubeconfig;
  const { status = 0, reason = "" } = cause as Partial<KubeError>;
  if (status === 404) return noGarden(kubeconfig);
  const why = cause.message.replace(`cannot get ${path}: `, "");
  if (reason === "NoCredentials" || status === 401 || status === 403)
    return new CliError(
      "failed",
      `the credentials of kubeconfig ${called} are of no use: ${why}; renew them, ${orElse}`,
      { cause },
    );
  const remedy = isLocal ? `see '${commandLines.localStatus()}'` : "start it";
  return new CliError(
    "unreachable",
    `the garden of kubeconfig ${called} does not answer: ${why}; ${remedy}, ${orElse}`,
    { cause },
  );
}

const orElse = "or name another kubeconfig with --kubeconfig";

function noGarden({ called }: KubeconfigFile): CliError {
  const remedy = `name a garden's with --kubeconfig, or make a garden of it: ${commandLines.localUpOnClusters()}`;
  return new CliError(
    "usage",
    `the cluster of kubeconfig ${called} is no garden, since it serves no Shoots: ${remedy}`,
  );
}
