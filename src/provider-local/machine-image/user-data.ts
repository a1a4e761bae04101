import type { OperatingSystemConfig } from "../../api/index.ts";
import { ExtensionError } from "../../extension/index.ts";
import type { UserData, UserDataFile, UserDataUnit } from "../../local/machine/user-data.ts";

type Spec = OperatingSystemConfig["spec"];
type File = NonNullable<Spec["files"]>[number];
type Unit = NonNullable<Spec["units"]>[number];

/** Reads one key of a Secret in the object's namespace. */
export type SecretReader = (name: string, key: string) => Promise<string>;

/** The machine configuration of an OperatingSystemConfig in the form that the local operating system reads. */
export async function renderUserData({ files = [], units = [] }: Spec, readSecretKey: SecretReader): Promise<UserData> {
  return {
    files: await Promise.all(files.map((file) => renderFile(file, readSecretKey))),
    units: units.map(renderUnit),
  };
}

async function renderFile(file: File, readSecretKey: SecretReader): Promise<UserDataFile> {
  const { path, permissions, content } = file;
  const common = { path, ...(permissions === undefined ? {} : { permissions }) };
  if (content.secretRef)
    return { ...common, content: await readSecretKey(content.secretRef.name, content.secretRef.dataKey) };
  if (!content.inline) {
    throw new ExtensionError(`cannot write file ${path}: its content is neither inline nor in a Secret`, [
      "ERR_CONFIGURATION_PROBLEM",
    ]);
  }
  const { data, encoding } = content.inline;
  if (encoding === "") return { ...common, content: replacePlaceholders(data) };
  if (encoding !== "b64" && encoding !== "base64") {
    throw new ExtensionError(`cannot write file ${path}: encoding ${encoding} is not known`, [
      "ERR_CONFIGURATION_PROBLEM",
    ]);
  }
  return { ...common, ...renderEncoded(data) };
}

/** Text is looked through for placeholders; bytes that are no text stay as they are. */
function renderEncoded(data: string): { content: string; encoding?: "b64" } {
  const bytes = Buffer.from(data, "base64");
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes)
    ? { content: replacePlaceholders(text) }
    : { content: data, encoding: "b64" };
}

/** Drop-ins are appended: what a unit file says last, holds. */
function renderUnit({ name, command, enable, content, dropIns = [], filePaths }: Unit): UserDataUnit {
  const texts = [...(content === undefined ? [] : [content]), ...dropIns.map((dropIn) => dropIn.content)];
  return {
    name,
    ...(texts.length === 0 ? {} : { content: replacePlaceholders(texts.join("\n")) }),
    ...(command === undefined ? {} : { command }),
    ...(enable === undefined ? {} : { enable }),
    ...(filePaths === undefined ? {} : { filePaths }),
  };
}

/** Which command makes a machine take up a changed configuration depends on its operating system (GEP-1). */
function replacePlaceholders(text: string): string {
  return text.replaceAll(/\{RELOAD-CLOUD-CONFIG-WITH-PATH:([^}]+)\}/g, "/opt/bin/apply-machine-config $1");
}
