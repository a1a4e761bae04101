import { mkdir, readFile } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";
import { parseYaml } from "../../parsing.ts";
import { createKubeClient, type KubeClient } from "../../kube/index.ts";
import { ensureBinaries } from "../binary/binaries.ts";
import { kubeconfigFile } from "../cluster/clusters.ts";
import { applyCrds, applyFoundations } from "../cluster/manifests.ts";
import { readManifest } from "../../manifests.ts";
import { gardenNamespace } from "../cluster/objects.ts";
import { startOwnProcesses } from "../process/own-processes.ts";
import { startTemporal } from "../process/temporal.ts";
import { replaceFile } from "../replace-file.ts";
import type { UpContext } from "./up-machines.ts";
import { rememberWebhooks, type Webhooks } from "./webhooks.ts";
import { renderYaml } from "../../yaml.ts";

/** Brings Temporal and our processes up against a garden and seeds that exist; makes no machines and needs no root. */
export async function adoptClusters(
  { environment, processes, log, run, signal }: UpContext,
  { gardenKubeconfig, seeds, webhooks: given }: ExistingClusters,
): Promise<void> {
  if (seeds["garden"] !== undefined) throw new Error("cannot call a seed garden: that is what the garden is called");
  const binaries = await run("binaries", async (tell) => {
    return await ensureBinaries(["temporal"], { log, onProgress: tell, ...(signal === undefined ? {} : { signal }) });
  });
  const temporal = await run("temporal", async () => await startTemporal(environment, processes, binaries.temporal));
  await run("crds", async (tell) => {
    for (const [cluster, given] of Object.entries({ garden: gardenKubeconfig, ...seeds })) {
      tell(cluster);
      const file = await adoptKubeconfig(given, kubeconfigFile(environment, cluster));
      const client = createKubeClient({ file }, { log });
      try {
        await furnish(client, cluster === "garden" ? "garden" : "seed");
      } finally {
        await client.close();
      }
    }
  });
  const webhooks = await rememberWebhooks(environment, given);
  await run("processes", async (tell) => {
    await startOwnProcesses({
      environment,
      processes,
      temporal,
      seeds: Object.keys(seeds),
      webhooks,
      onProgress: tell,
    });
  });
}

/** Clusters that exist, by their kubeconfig files. */
interface ExistingClusters {
  readonly gardenKubeconfig: string;
  readonly seeds: Readonly<Record<string, string>>;
  readonly webhooks: Webhooks | undefined;
}

/** Applies what a garden or a seed has to hold; in the garden our processes publish keys and keep the webhooks' certificate. */
async function furnish(client: KubeClient, role: "garden" | "seed"): Promise<void> {
  const namespaces = [gardenNamespace, ...(await readManifest("process/namespace.yaml"))];
  if (role === "garden") for (const namespace of namespaces) await client.apply(namespace);
  await applyCrds(client, role);
  await applyFoundations(client, role);
}

/** Copies a kubeconfig, with the files that it refers to found from anywhere. */
async function adoptKubeconfig(given: string, file: string): Promise<string> {
  const text = await readFile(given, "utf8").catch((cause: unknown) => {
    throw new Error(`cannot read kubeconfig ${given}`, { cause });
  });
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, resolveFiles(text, dirname(resolve(given))));
  return file;
}

/** The kubeconfig with relative file names made absolute from `folder`. */
export function resolveFiles(kubeconfig: string, folder: string): string {
  const references = new Set(["certificate-authority", "client-certificate", "client-key", "tokenFile"]);
  const resolved = JSON.stringify(parseYaml(kubeconfig, "the kubeconfig"), (key, value: unknown) => {
    const isRelative = references.has(key) && typeof value === "string" && value !== "" && !isAbsolute(value);
    return isRelative ? resolve(folder, value) : value;
  });
  return renderYaml(JSON.parse(resolved));
}
