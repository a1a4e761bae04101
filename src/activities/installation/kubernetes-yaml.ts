import type { ScalarTag, Tags } from "yaml";
import { kubernetesYaml } from "../../yaml.ts";

/** {@link kubernetesYaml} in which integers keep their digits, however many. */
export const exactYaml = {
  ...kubernetesYaml,
  customTags: (tags: Tags): Tags => kubernetesYaml.customTags(tags).map((tag) => withDigits(tag)),
};

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
