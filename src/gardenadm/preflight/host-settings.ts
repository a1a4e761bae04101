import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { HOST_SETTINGS } from "../../components/index.ts";
import { parseYaml } from "../../parsing.ts";
import { textOf } from "./readable.ts";

const settings = z.object({
  failSwapOn: z.boolean().optional(),
  cgroupDriver: z.string().optional(),
  resolvConf: z.string().optional(),
});

/** What a machine itself says of its kubelet, file by file in the order of their names, as kubelets read them. */
export async function hostSettings(root: string): Promise<z.infer<typeof settings>> {
  const names = await readdir(join(root, HOST_SETTINGS)).catch(() => []);
  let merged: z.infer<typeof settings> = {};
  for (const name of names.filter((one) => one.endsWith(".conf")).toSorted())
    merged = { ...merged, ...read(await textOf(root, `${HOST_SETTINGS}/${name}`), name) };
  return merged;
}

/** What is no configuration says nothing here; the kubelet says what is wrong with it. */
function read(text: string, name: string): z.infer<typeof settings> {
  try {
    return settings.parse(parseYaml(text, name));
  } catch {
    return {};
  }
}
