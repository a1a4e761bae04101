import { fileOf } from "./cluster-world.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";

/** An operator's own files of a pod network, as another program of containers has them; of their names, the cluster's comes first. */
export const OPERATORS_FILES: Readonly<Record<string, string>> = {
  "/etc/cni/net.d/99-operator.conflist": "{}\n",
  "/var/lib/cni/networks/operator/10.9.9.2": "kept\n",
};

const PLANT = Object.entries(OPERATORS_FILES)
  .map(([path, text]) => `mkdir -p "$(dirname ${path})" && printf '%s' '${text}' > ${path}`)
  .join(" && ");

/** Puts them onto a machine. */
export async function plantOperatorsFiles({ ground, name }: GardenadmMachine): Promise<void> {
  await ground.inMachine(name, "sh", "-c", PLANT);
}

/** What is in their folders, as it is now: files with their texts. */
export async function podNetworkFiles(
  machine: GardenadmMachine,
): Promise<Readonly<Record<string, string | undefined>>> {
  const found = await machine.ground.inMachine(machine.name, "find", "/etc/cni/net.d", "/var/lib/cni", "-type", "f");
  const paths = found.split("\n").filter((path) => path !== "");
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await fileOf(machine, path)] as const)));
}
