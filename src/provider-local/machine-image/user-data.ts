import type { OperatingSystemConfig } from "../../api/index.ts";
import { ExtensionError } from "../../extension/index.ts";
import { toUserData } from "../../local/machine/machine-config.ts";
import type { UserData } from "../../local/machine/user-data.ts";

type Spec = OperatingSystemConfig["spec"];
type File = NonNullable<Spec["files"]>[number];

/** Reads one key of a Secret in the object's namespace. */
export type SecretReader = (name: string, key: string) => Promise<string>;

/**
 * What an OperatingSystemConfig says of a machine's first boot, in the form that the local operating system reads.
 * Placeholders stand in it as they are: they are for what makes the machines.
 */
export async function renderUserData(spec: Spec, readSecretKey: SecretReader): Promise<UserData> {
  const files = await Promise.all((spec.files ?? []).map((file) => withContent(file, readSecretKey)));
  try {
    return toUserData({ spec: { ...spec, files } });
  } catch (error) {
    throw new ExtensionError(String((error as Error).message), ["ERR_CONFIGURATION_PROBLEM"], { cause: error });
  }
}

async function withContent(file: File, readSecretKey: SecretReader): Promise<File> {
  const { secretRef } = file.content;
  if (secretRef === undefined) return file;
  const data = await readSecretKey(secretRef.name, secretRef.dataKey);
  return { ...file, content: { inline: { encoding: "", data } } };
}
