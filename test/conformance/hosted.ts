import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Image } from "../../src/local/image/build.ts";
import { down } from "../../src/local/environment/down.ts";
import { createMachines } from "../../src/local/machine/machines.ts";
import { createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import type { ClusterWork, Ground } from "./ground.ts";

/** The environment of the conformance tests; no other is touched by them. */
const ENVIRONMENT = "conformance";

/** Makes an environment with a Shoot of two nodes, runs the work on it, and takes everything away. What a killed run has left goes first. */
export async function onHostedShoot<T>(ground: Ground, work: ClusterWork<T>): Promise<T> {
  await down({ name: ENVIRONMENT });
  try {
    ground.tell("making an environment");
    const local = await localEnvironment(ENVIRONMENT);
    try {
      ground.signal.throwIfAborted();
      ground.tell("making a Shoot with two nodes");
      const { kubeconfig } = await makeShoot(local, ENVIRONMENT, ground);
      return await work(kubeconfig);
    } finally {
      await local.close();
    }
  } finally {
    await down({ name: ENVIRONMENT });
  }
}

/** Makes a Shoot with two nodes that have the images of the archive. */
export async function makeShoot(
  local: LocalEnvironment,
  name: string,
  { archive, folder }: { readonly archive: Image; readonly folder: string },
): Promise<{ readonly shoot: TestShoot; readonly kubeconfig: string }> {
  const shoot = await createShoot(local, { name, nodes: 2 });
  await shoot.settles("Succeeded", "Create", 480_000);
  const machines = createMachines(local.environment, local.log);
  const own = (await machines.list()).filter((machine) => machine.name.startsWith(`${shoot.technicalID}-`));
  await Promise.all(own.map((machine) => machines.loadImage(machine.name, archive)));
  const kubeconfig = join(folder, "hosted.yaml");
  await writeFile(kubeconfig, await local.perennial("shoot", "kubeconfig", `garden-dev/${name}`), { mode: 0o600 });
  return { shoot, kubeconfig };
}
