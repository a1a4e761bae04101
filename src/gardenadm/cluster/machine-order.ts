import { MACHINE_CHECKSUM_ANNOTATION, SERIAL_ANNOTATION } from "../../api/annotations.ts";
import type { Secret } from "../../kube/kinds.ts";
import type { MachineConfig } from "../../node-agent/wanted.ts";
import { parseYaml } from "../../parsing.ts";

/** What a pool's Secret says of its machines. */
export interface MachineOrder {
  readonly config: MachineConfig;
  readonly checksum: string;
  /** One node after the other takes it over. */
  readonly isSerial: boolean;
}

/** Reads a pool's Secret. Throws what it lacks, and quotes nothing of it. */
export function readMachineOrder({ metadata, data = {} }: Secret): MachineOrder {
  const called = `Secret ${metadata.namespace}/${metadata.name}`;
  const encoded = data["osc.yaml"];
  const checksum = metadata.annotations?.[MACHINE_CHECKSUM_ANNOTATION];
  if (encoded === undefined || checksum === undefined)
    throw new Error(`cannot use ${called}: it has no osc.yaml, or no annotation ${MACHINE_CHECKSUM_ANNOTATION}`);
  const config = parseYaml(Buffer.from(encoded, "base64").toString(), `osc.yaml of ${called}`);
  if (!isConfig(config)) throw new Error(`cannot use ${called}: its osc.yaml is no OperatingSystemConfig`);
  return { config, checksum, isSerial: metadata.annotations?.[SERIAL_ANNOTATION] === "true" };
}

function isConfig(found: unknown): found is MachineConfig {
  const { kind, spec } = (found ?? {}) as { readonly kind?: unknown; readonly spec?: MachineConfig["spec"] };
  const lists = [spec?.files ?? [], spec?.units ?? []];
  return kind === "OperatingSystemConfig" && typeof spec === "object" && lists.every((list) => Array.isArray(list));
}

/** Refuses to read a Secret for a machine: the contents of other Secrets stand in the Secret of the pool. */
export async function noSecret(name: string): Promise<Buffer> {
  return await Promise.reject(new Error(`Secret ${name} is not for machines`));
}
