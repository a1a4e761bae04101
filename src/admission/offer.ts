import type { CloudProfile } from "../api/index.ts";

/** Says that a CloudProfile does not offer a value, and which ones it does. */
export function notOffered(value: string, { metadata }: CloudProfile, offered: readonly string[]): string {
  const list = offered.length === 0 ? "none" : offered.slice(0, 20).join(", ");
  return `${value} is not offered by CloudProfile ${metadata.name}: choose one of ${list}`;
}
