import { mkdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createKubeClient } from "../../kube/index.ts";
import { kubeconfigFile } from "../cluster/clusters.ts";
import { replaceFile } from "../replace-file.ts";
import type { Environment } from "./environment.ts";

/** Where the API server of a garden that exists reaches the manager's webhooks, and by whose certificate they know it. */
export interface Webhooks {
  /** An address of this machine. */
  readonly host: string;
  /** Without it, every caller is answered. */
  readonly clientCaFile?: string;
}

/** The webhooks that are wanted: those given now, else those of an earlier `up`; every `up` until `down` keeps them. */
export async function rememberWebhooks(
  environment: Pick<Environment, "stateDir">,
  given: Webhooks | undefined,
): Promise<Webhooks | undefined> {
  const file = noteFile(environment);
  if (given === undefined) return await readNote(file);
  const { host, clientCaFile } = given;
  const webhooks = { host, ...(clientCaFile === undefined ? {} : { clientCaFile: resolve(clientCaFile) }) };
  await mkdir(dirname(file), { recursive: true });
  await replaceFile(file, `${JSON.stringify(webhooks)}\n`, 0o644);
  return webhooks;
}

/**
 * Takes the configurations of the webhooks out of a garden that existed before: without a manager, they would refuse every
 * write of a Shoot. Throws, and says what is left to do, when that garden does not let it.
 */
export async function removeWebhooks(environment: Pick<Environment, "stateDir">): Promise<void> {
  if ((await readNote(noteFile(environment))) === undefined) return;
  const client = createKubeClient({ file: kubeconfigFile(environment, "garden") });
  try {
    for (const kind of ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
      await client.remove({ apiVersion: "admissionregistration.k8s.io/v1", kind, name: "perennial" });
  } finally {
    await client.close();
  }
}

const noteFile = ({ stateDir }: Pick<Environment, "stateDir">): string => join(stateDir, "webhooks.json");

async function readNote(file: string): Promise<Webhooks | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Webhooks);
}
