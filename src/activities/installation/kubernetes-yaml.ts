import type { ScalarTag, Tags } from "yaml";

/**
 * What tells the scalars of YAML 1.1 apart as Kubernetes does: `2026-01-01` and `12:30` are text, where YAML has a date and a
 * number of minutes, and integers keep their digits, however many.
 */
export const kubernetesTags = (tags: Tags): Tags => tags.filter(isNoTime).map((tag) => withDigits(tag));

function isNoTime(tag: Tags[number]): boolean {
  const { tag: name, format } = tag as ScalarTag;
  return name !== "tag:yaml.org,2002:timestamp" && format !== "TIME";
}

/** A number of JavaScript has 53 bits; an integer of more becomes what JSON writes with all of its digits. */
function withDigits(tag: Tags[number]): Tags[number] {
  const { tag: name, resolve } = tag as ScalarTag;
  if (name !== "tag:yaml.org,2002:int") return tag;
  const resolveExactly: ScalarTag["resolve"] = (text, onError, options) => {
    const value = resolve(text, onError, options);
    if (Number.isSafeInteger(value)) return value;
    return rawJson(String(resolve(text, onError, { ...options, intAsBigInt: true })));
  };
  return { ...(tag as ScalarTag), resolve: resolveExactly };
}

/** `JSON.rawJSON`, which TypeScript does not know yet: `JSON.stringify` writes the text as it is. */
const rawJson = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
