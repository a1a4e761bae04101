import { stripVTControlCharacters } from "node:util";
import { withoutSecrets } from "../../redaction.ts";

/**
 * Returns what a component of Kubernetes complained of last in its log, of at most 300 characters: its last line of severity
 * error or fatal, without klog's header, or its last line where it has none. Pure.
 */
export function lastComplaint(log: string): string {
  const lines = log
    .split("\n")
    .map((line) => stripVTControlCharacters(line).trim())
    .filter(Boolean);
  const line = lines.findLast((one) => /^[EF]\d{4} /.test(one)) ?? lines.at(-1) ?? "";
  const words = withoutSecrets(line.replace(/^[EFWI]\d{4} [\d:.]+ +\d+ [^\]]*\] /, ""));
  return words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words;
}

const LONGEST = 300;
