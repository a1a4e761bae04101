import type { OperatingSystemConfig } from "../../api/index.ts";

/** A file of a machine's configuration. */
export type File = NonNullable<OperatingSystemConfig["spec"]["files"]>[number];

/** A systemd unit of a machine's configuration. */
export type Unit = NonNullable<OperatingSystemConfig["spec"]["units"]>[number];

/** What one subject adds to a machine's configuration. */
export interface Part {
  readonly files?: readonly File[];
  readonly units?: readonly Unit[];
}

/** A file with this text. */
export function textFile(path: string, data: string, permissions: number): File {
  return { path, permissions, content: { inline: { encoding: "", data } } };
}

/**
 * A file with a text that machine-controller-manager changes for each machine: it looks for placeholders in the user data,
 * and finds them only where the operating system leaves the text as it is.
 */
export function placeholderFile(path: string, placeholder: string, permissions: number): File {
  const inline = { encoding: "", data: placeholder };
  return { path, permissions, content: { inline, transmitUnencoded: true } };
}

/** A file with the value of a key of a Secret beside the control plane. */
export function secretFile(path: string, name: string, dataKey: string, permissions: number): File {
  return { path, permissions, content: { secretRef: { name, dataKey } } };
}

/** A program out of a container image. */
export function imageFile(path: string, image: string, filePathInImage: string): File {
  return { path, permissions: 0o755, content: { imageRef: { image, filePathInImage } } };
}

/** The paths of the files: what a unit is restarted for. */
export const pathsOf = (files: readonly File[]): string[] => files.map(({ path }) => path);
