import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { flowWorkflowId } from "../../src/workflows/contract.ts";
import type { Lab } from "./lab.ts";
import type { LabShoot } from "./shoots.ts";

/** Leaves behind what helps to understand migrations that went wrong: logs, histories, and how things stand now. */
export async function keepEvidence(
  lab: Lab,
  shoots: readonly LabShoot[],
  faults: readonly string[],
  directory: string,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  const keep = (name: string, content: string) => writeFile(join(directory, name), content);
  const keepJson = (name: string, content: unknown) => keep(`${name}.json`, JSON.stringify(content, undefined, 1));
  await keep("faults.txt", faults.join("\n"));
  for (const [name, process] of lab.processes) await keep(`${name}.log`, process.output());
  for (const shoot of shoots) {
    for (const flow of ["migrate", "restore"] as const) {
      const handle = lab.temporal.client.workflow.getHandle(flowWorkflowId(shoot, flow));
      const [history, description] = await Promise.allSettled([handle.fetchHistory(), handle.describe()]);
      if (history.status === "fulfilled") await keepJson(`${shoot.name}-${flow}`, history.value);
      if (description.status === "fulfilled")
        await keepJson(`${shoot.name}-${flow}-pending`, description.value.raw.pendingActivities ?? []);
    }
    for (const seed of lab.seeds.keys())
      await keepJson(`${shoot.name}-in-${seed}`, await extensionsOf(lab, shoot, seed));
  }
}

async function extensionsOf(lab: Lab, { technicalID }: LabShoot, seed: string): Promise<unknown> {
  const client = lab.seeds.get(seed)?.client;
  if (client === undefined) return [];
  const types = (await client.types()).filter(({ apiVersion }) => apiVersion === "extensions.gardener.cloud/v1alpha1");
  const objects = (await Promise.all(types.map((type) => client.list(type)))).flat();
  return objects.filter(({ metadata }) => (metadata.namespace ?? metadata.name).startsWith(technicalID));
}
