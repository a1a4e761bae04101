import { scheduler } from "node:timers/promises";
import { Composer, Parser } from "yaml";
import { isNamedObject, type KubeObject } from "../../api/schema/meta.ts";
import { parseJson } from "../../parsing.ts";
import { refuseAmbiguous, refuseAmbiguousText } from "../../yaml.ts";
import { exactYaml } from "./kubernetes-yaml.ts";

/**
 * The objects that rendered manifests describe; throws where they are not objects. Megabytes take seconds: whatever else the
 * process does goes on meanwhile.
 */
export async function parseManifests(text: string): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  readably(() => refuseAmbiguousText(text));
  const documents = new Composer(exactYaml).compose(new Parser().parse(text));
  let begun = performance.now();
  for (const document of documents) {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`it renders to what is no YAML: ${error.message.split("\n")[0] ?? ""}`);
    readably(() => refuseAmbiguous(document));
    objects.push(...objectsIn(document.toJS()));
    if (performance.now() - begun < LONGEST_TURN) continue;
    await scheduler.yield();
    begun = performance.now();
  }
  return objects;
}

function readably(check: () => void): void {
  try {
    check();
  } catch (cause) {
    throw new Error(`it renders to YAML that ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** In ms: how long nothing else in the process gets its turn. */
const LONGEST_TURN = 50;

/** The objects that Helm would create around an installation: the resource manager knows no such moments. */
export const hooksOf = (objects: readonly KubeObject[]): readonly KubeObject[] =>
  objects.filter(({ metadata }) => HOOK in (metadata.annotations ?? {}));

const HOOK = "helm.sh/hook";

/** One text of these objects, in their order: a line of JSON each, which takes a hundredth of YAML's time. */
export const renderManifests = (objects: readonly KubeObject[]): string =>
  objects.map((object) => `${JSON.stringify(object)}\n`).join("");

/** The objects of such a text, or of the YAML that earlier builds have written. Large integers are rounded: it is to look, not to apply. */
export const readManifests = async (text: string): Promise<readonly KubeObject[]> =>
  text.startsWith("{")
    ? text
        .trimEnd()
        .split("\n")
        .map((line) => parseJson(line, "a Secret with manifests") as KubeObject)
    : await parseManifests(text);

function objectsIn(document: unknown): readonly KubeObject[] {
  if (document === null || document === undefined) return [];
  if (isObject(document)) return document.kind === "List" ? itemsOf(document) : [document];
  throw new Error("it renders to a document that is no object: apiVersion, kind or metadata.name is missing");
}

const isObject = (value: unknown): value is KubeObject => isNamedObject(value) || isList(value);

/** A List has no name. */
function isList(value: unknown): value is KubeObject {
  const { apiVersion, kind } = (value ?? {}) as { readonly [field in keyof KubeObject]?: unknown };
  return typeof apiVersion === "string" && kind === "List";
}

function itemsOf(list: KubeObject): readonly KubeObject[] {
  const { items = [] } = list as { readonly items?: readonly unknown[] };
  if (items.every(isObject)) return items;
  throw new Error("it renders to a List of what are no objects");
}
