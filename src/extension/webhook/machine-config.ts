import { KUBELET_UNIT } from "../../api/names.ts";
import type { OperatingSystemConfig } from "../../api/index.ts";
import { parseYaml } from "../../parsing.ts";
import { renderYaml } from "../../yaml.ts";

type File = NonNullable<OperatingSystemConfig["spec"]["files"]>[number];
type Unit = NonNullable<OperatingSystemConfig["spec"]["units"]>[number];

/** The file of the kubelet's configuration, as Gardener's contract names it. */
export const KUBELET_CONFIG = "/var/lib/kubelet/config/kubelet";

/** The machines' configuration with a file; another one at the same path is replaced. */
export const withFile = (config: OperatingSystemConfig, file: File): OperatingSystemConfig =>
  withSpec(config, { files: put(config.spec.files ?? [], file, ({ path }) => path) });

/** The machines' configuration with a unit; another one of the same name is replaced. */
export const withUnit = (config: OperatingSystemConfig, unit: Unit): OperatingSystemConfig =>
  withSpec(config, { units: put(config.spec.units ?? [], unit, ({ name }) => name) });

/** The machines' configuration with `--name=value` in the single ExecStart of the kubelet's unit. Throws when there is no such unit. */
export function withKubeletFlag(config: OperatingSystemConfig, name: string, value: string): OperatingSystemConfig {
  const unit = config.spec.units?.find((one) => one.name === KUBELET_UNIT);
  if (unit?.content === undefined)
    throw new Error(`cannot give the kubelet a flag in ${config.metadata.name}: it has no unit ${KUBELET_UNIT}`);
  return withUnit(config, { ...unit, content: withFlagInUnit(unit.content, name, value) });
}

/** The machines' configuration with the kubelet's changed. Throws when its file is not there, or not written inline. */
export function withKubeletConfig(
  config: OperatingSystemConfig,
  change: (kubelet: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): OperatingSystemConfig {
  const file = config.spec.files?.find(({ path }) => path === KUBELET_CONFIG);
  const inline = file?.content.inline;
  if (file === undefined || inline === undefined)
    throw new Error(
      `cannot change the kubelet's configuration in ${config.metadata.name}: there is no ${KUBELET_CONFIG}`,
    );
  const encoded = inline.encoding === "b64";
  const text = encoded ? Buffer.from(inline.data, "base64").toString("utf8") : inline.data;
  const changed = renderYaml(
    change(parseYaml(text, `${KUBELET_CONFIG} of ${config.metadata.name}`) as Readonly<Record<string, unknown>>),
  );
  const data = encoded ? Buffer.from(changed).toString("base64") : changed;
  return withFile(config, { ...file, content: { ...file.content, inline: { ...inline, data } } });
}

/** Lines that end with a backslash go on; the flag comes at the end of the command, or where it was. */
function withFlagInUnit(content: string, name: string, value: string): string {
  const flag = `--${name}=${value}`;
  return content.replace(/^ExecStart=(?:.*\\\n)*.*$/m, (command) => {
    const known = new RegExp(`(?<=\\s)--${name}=\\S*`);
    return known.test(command) ? command.replace(known, () => flag) : `${command} \\\n    ${flag}`;
  });
}

const withSpec = (
  config: OperatingSystemConfig,
  spec: Partial<OperatingSystemConfig["spec"]>,
): OperatingSystemConfig => ({ ...config, spec: { ...config.spec, ...spec } });

function put<T>(list: readonly T[], item: T, keyOf: (one: T) => string): T[] {
  const known = list.some((one) => keyOf(one) === keyOf(item));
  return known ? list.map((one) => (keyOf(one) === keyOf(item) ? item : one)) : [...list, item];
}
