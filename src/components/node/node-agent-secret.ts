import { POOL_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import type { KubeObject, OperatingSystemConfig } from "../../api/index.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { nodeAgentSecretName } from "./pool.ts";

/** What a running machine is to be: files, and units of which a change of a file in `filePaths` is a change too. */
export interface MachineConfig {
  readonly files: readonly MachineFile[];
  readonly units: readonly Omit<Unit, "dropIns">[];
}

/** A file; `content` is base64 if `encoding` says so. */
export interface MachineFile {
  readonly path: string;
  readonly permissions?: number;
  readonly content: string;
  readonly encoding?: "b64";
}

/** The value of a key of a Secret in the Shoot's namespace, as it stands in the Secret: base64. */
export type SecretLookup = (name: string, key: string) => string;

/**
 * The Secret in the Shoot that the pool's machines read: the OperatingSystemConfig of purpose `reconcile`, after its
 * webhooks have changed its spec and its controller has added files and units in its status.
 */
export function nodeAgentSecret(
  context: ControlPlaneContext,
  pool: WorkerPool,
  config: OperatingSystemConfig,
  lookup: SecretLookup,
): KubeObject {
  const content = JSON.stringify(machineConfig(config, lookup));
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: nodeAgentSecretName(context, pool),
      namespace: "kube-system",
      labels: { [ROLE_LABEL]: "operating-system-config", [POOL_LABEL]: pool.name },
    },
    type: "Opaque",
    data: { "config.json": Buffer.from(content).toString("base64") },
  };
}

/** Files and units of an OperatingSystemConfig: one named in the status takes the place of the spec's of that name. */
export function machineConfig({ spec, status }: OperatingSystemConfig, lookup: SecretLookup): MachineConfig {
  const files = byKey([...(spec.files ?? []), ...(status?.extensionFiles ?? [])], ({ path }) => path);
  const units = (spec.units ?? []).map(({ name }) => name);
  const names = [...new Set([...units, ...(status?.extensionUnits ?? []).map(({ name }) => name)])];
  return {
    files: files.map((file) => render(file, lookup)),
    units: names.map((name) => merge(name, [...(spec.units ?? []), ...(status?.extensionUnits ?? [])])),
  };
}

type Unit = NonNullable<OperatingSystemConfig["spec"]["units"]>[number];
type File = NonNullable<OperatingSystemConfig["spec"]["files"]>[number];

/** The last word on each setting of a unit; drop-ins follow the text, where they mean what they mean to systemd. */
function merge(name: string, all: readonly Unit[]): Omit<Unit, "dropIns"> {
  const mine = all.filter((unit) => unit.name === name);
  const { dropIns: _, ...settings } = Object.assign({ name }, ...mine) as Unit;
  const dropIns = byKey(
    mine.flatMap((unit) => unit.dropIns ?? []),
    (dropIn) => dropIn.name,
  );
  const filePaths = [...new Set(mine.flatMap((unit) => unit.filePaths ?? []))];
  const texts = [
    ...(settings.content === undefined ? [] : [settings.content]),
    ...dropIns.map(({ content }) => content),
  ];
  return {
    ...settings,
    ...(texts.length === 0 ? {} : { content: texts.join("\n") }),
    ...(filePaths.length === 0 ? {} : { filePaths }),
  };
}

function render({ path, permissions, content }: File, lookup: SecretLookup): MachineFile {
  const common = { path, ...(permissions === undefined ? {} : { permissions }) };
  if (content.secretRef) return { ...common, ...bytes(lookup(content.secretRef.name, content.secretRef.dataKey)) };
  const { encoding = "", data = "" } = content.inline ?? {};
  return { ...common, ...(encoding === "" ? { content: data } : bytes(data)) };
}

/** Text as text, so that people can read it; anything else as base64. */
function bytes(base64: string): Pick<MachineFile, "content" | "encoding"> {
  const content = Buffer.from(base64, "base64");
  const text = content.toString("utf8");
  return Buffer.from(text).equals(content) ? { content: text } : { content: base64, encoding: "b64" };
}

function byKey<T>(items: readonly T[], key: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [key(item), item])).values()];
}
