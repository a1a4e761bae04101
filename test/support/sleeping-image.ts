import { createMachines } from "../../src/local/machine/machines.ts";
import { eventually } from "./eventually.ts";
import type { LocalEnvironment } from "./local-environment.ts";
import { buildShellImage } from "./shell-image.ts";

/** The image of the pod that upstream's Extension `local-ext-shoot-after-worker` puts into a Shoot. It cannot be had. */
const name = "europe-docker.pkg.dev/gardener-project/releases/3rd/alpine:3.19.1";

/** Gives the machines of a Shoot, once there are any, an image of that name that can sleep: this host's shell stands in. */
export async function loadSleepingImage(
  { environment, log }: LocalEnvironment,
  { technicalID }: { readonly technicalID: string },
  folder: string,
): Promise<void> {
  const image = await buildShellImage(name, folder, log);
  const machines = createMachines(environment, log);
  await eventually(async () => {
    const own = (await machines.list()).filter((machine) => machine.name.startsWith(technicalID));
    if (own.length === 0) throw new Error(`${technicalID} has no machine yet`);
    for (const machine of own) await machines.loadImage(machine.name, image);
  }, 300_000);
}
