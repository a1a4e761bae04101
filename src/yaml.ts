import { Document, isScalar, visit, type Node, type Pair, type Scalar, type ScalarTag, type Tags } from "yaml";

/**
 * Options of package yaml that read YAML as Kubernetes and other programs in Go do: version 1.1, in which `2026-01-01` and `12:30` are
 * texts and `0o17` is a number.
 */
export const kubernetesYaml = {
  version: "1.1",
  logLevel: "error",
  uniqueKeys: false, // refuseAmbiguous sees to it: the package compares each key with every other
  customTags: (tags: Tags): Tags => [octal, ...tags.filter(isNoTime)],
} as const;

/**
 * Renders YAML that programs in Go and this package read alike: texts such as `yes`, `0777` and `0o17` are quoted, and what ends a line
 * in YAML 1.1 and not in 1.2 is escaped. With `sortMapEntries`, the text does not depend on the order of keys.
 */
export function renderYaml(value: unknown, { sortMapEntries = false } = {}): string {
  const document = new Document(value, {
    version: "1.1",
    ...{ customTags: withoutMerge, merge: false },
    ...{ aliasDuplicateObjects: false, sortMapEntries },
  });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && isSpecial(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  const escape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return document.toString({ lineWidth: 0 }).replaceAll(new RegExp(rare, "g"), escape);
}

const withoutMerge = (tags: Tags): Tags => tags.filter((tag) => (tag as ScalarTag).tag !== "tag:yaml.org,2002:merge");

/** Whether the text, without quotes, would be something else than this text for a reader. */
const isSpecial = (text: string): boolean =>
  text === "<<" || rare.test(text) || isNumberInGo(text) || (text.includes("\n") && /^\s|[ \t](?:\n|$)/.test(text));

/** Programs in Go leave out all underscores before they look whether a text is a number. */
const isNumberInGo = (text: string): boolean =>
  /^[-+.0-9]/.test(text) &&
  /^[-+]?(?:0b[-+]?[01]+|0o[-+]?[0-7]+|0x[0-9a-f]+|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:e[-+]?[0-9]+)?)$/i.test(
    text.replaceAll("_", ""),
  );

/** What no plain text may have: line breaks of YAML 1.1, a byte order mark, control characters. */
const rare = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;

/** YAML that is well-formed, and that programs read differently. Its message quotes nothing; `at` is where it is in the text. */
export class AmbiguousYaml extends Error {
  readonly at: number | undefined;
  constructor(message: string, at?: number) {
    super(message);
    this.at = at;
  }
}

/** Throws an {@link AmbiguousYaml} for text with characters that end a line for some readers of YAML, and not for others. */
export function refuseAmbiguousText(text: string): void {
  if (/\r(?!\n)|[\x85\u2028\u2029]|(?!^)\ufeff/.test(text)) throw new AmbiguousYaml("has a line break of a rare kind");
}

/**
 * Throws an {@link AmbiguousYaml} for what programs in Go read differently or refuse, so that no author shows a text to one reader that means
 * something else to the next: two keys of one name, merge keys behind other keys, keys that are no texts, numbers without a value, tags of rare types, and
 * another version of YAML.
 */
export function refuseAmbiguous({ contents, directives }: Document.Parsed): void {
  if (directives.yaml.version !== "1.1") throw new AmbiguousYaml("is YAML of another version than 1.1");
  if (isScalar(contents) && contents.type?.startsWith("BLOCK")) throw new AmbiguousYaml("is text, and no map or list");
  visit(contents, {
    Node(_, node) {
      const fault = faultOf(node);
      if (fault !== undefined) throw new AmbiguousYaml(fault);
    },
    Map(_, { items }) {
      const known = new Set<string>();
      for (const { key } of items.filter(hasPlainKey)) {
        if (known.has(String(key.value))) throw new AmbiguousYaml("has two keys of one name", key.range?.[0]);
        known.add(String(key.value));
      }
    },
    Pair(index, { key }) {
      const isKey = isScalar(key) && ["string", "symbol"].includes(typeof key.value);
      if (!isKey && !(isScalar(key) && String(key.value) === key.source))
        throw new AmbiguousYaml("has a key that is not text");
      if (typeof key.value === "symbol" && index !== 0) throw new AmbiguousYaml("has a merge key behind another key");
    },
  });
}

const hasPlainKey = (pair: Pair): pair is Pair<Scalar> => isScalar(pair.key);

function faultOf(node: Node): string | undefined {
  if (node.tag !== undefined && !plainTypes.has(node.tag)) return "has a tag that is not supported";
  if (isScalar(node) && node.type === "PLAIN" && typeof node.value === "string" && isNumberInGo(node.value))
    return "has a number that is written in a rare way";
  const hasNoValue = isScalar(node) && typeof node.value === "number" && !Number.isFinite(node.value);
  return hasNoValue ? "has a number that is not finite" : undefined;
}

const plainTypes = new Set(["str", "int", "bool", "null", "map", "seq"].map((type) => `tag:yaml.org,2002:${type}`));

const octal: ScalarTag = {
  identify: () => false,
  default: true,
  tag: "tag:yaml.org,2002:int",
  test: /^[-+]?0o[0-7_]*[0-7][0-7_]*$/,
  resolve: (text) => (text.startsWith("-") ? -1 : 1) * Number.parseInt(text.replaceAll(/^[-+]?0o|_/g, ""), 8),
};

function isNoTime(tag: Tags[number]): boolean {
  const { tag: name, format } = tag as ScalarTag;
  return name !== "tag:yaml.org,2002:timestamp" && format !== "TIME";
}
