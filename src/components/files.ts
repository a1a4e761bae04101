import { createHash } from "node:crypto";
import type { ControlPlaneContext } from "./context.ts";

/** What a pod mounts, by Secret: all of its keys, or only those named (a CA's certificate without its key). */
export type SecretFiles = Readonly<Record<string, readonly string[] | "all">>;

/** Where the files of a Secret are found in a container. */
export const secretPath = (secret: string, key: string): string => `/srv/kubernetes/${secret}/${key}`;

/** Volumes, mounts and checksum annotations for the Secrets and ConfigMaps that a pod reads as files. */
export function mountFiles(
  context: Pick<ControlPlaneContext, "checksums">,
  secrets: SecretFiles,
  configMaps: readonly ConfigFiles[] = [],
) {
  const names = Object.keys(secrets);
  return {
    volumes: [
      ...Object.entries(secrets).map(([name, keys]) => secretVolume(name, keys)),
      ...configMaps.map(({ name }) => ({ name, configMap: { name } })),
    ],
    volumeMounts: [
      ...names.map((name) => ({ name, mountPath: `/srv/kubernetes/${name}`, readOnly: true })),
      ...configMaps.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true })),
    ],
    annotations: Object.fromEntries([
      ...names.flatMap((name) => checksum(`checksum/secret-${name}`, context.checksums[name])),
      ...configMaps.map(({ name, data }) => [`checksum/configmap-${name}`, sha256(data)]),
    ]) as Record<string, string>,
  };
}

/** A ConfigMap's content, and where a container finds it. */
export interface ConfigFiles {
  readonly name: string;
  readonly data: Readonly<Record<string, string>>;
  readonly mountPath: string;
}

/** SHA-256 of a map's entries, independent of their order, in hex. */
export function sha256(data: Readonly<Record<string, string>>): string {
  const entries = Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(entries)).digest("hex");
}

function secretVolume(name: string, keys: readonly string[] | "all") {
  const items = keys === "all" ? {} : { items: keys.map((key) => ({ key, path: key })) };
  return { name, secret: { secretName: name, defaultMode: 0o440, ...items } };
}

function checksum(annotation: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[annotation, value]];
}
