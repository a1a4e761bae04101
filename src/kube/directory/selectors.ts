import type { KubeObject } from "../../api/schema/meta.ts";
import type { Selection } from "../client.ts";
import { badRequest, type Call } from "./refusals.ts";
import { groupOf, isBuiltInGroup } from "./traits.ts";

/** Whether an object is selected. Throws for a selector that an API server would not take either. */
export function selectorOf(selection: Selection, call: Call): (object: KubeObject) => boolean {
  const labels = split(selection.labelSelector).map((text) => labelRequirement(text, call));
  const fields = split(selection.fieldSelector).map((text) => fieldRequirement(text, call));
  return (object) =>
    labels.every((holds) => holds(object.metadata.labels ?? {})) && fields.every((holds) => holds(object));
}

type Labels = Readonly<Record<string, string>>;

/** At commas that stand in no parentheses. */
function split(selector = ""): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

const KEY = String.raw`[A-Za-z0-9][-A-Za-z0-9_./]*`;
const VALUE = String.raw`[-A-Za-z0-9_.]*`;
const IN = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([-A-Za-z0-9_.,\\s]*)\\)$`);
const EQUALS = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`);
const EXISTS = new RegExp(`^(!?)\\s*(${KEY})$`);

function labelRequirement(text: string, call: Call): (labels: Labels) => boolean {
  const [, among, how, values] = IN.exec(text) ?? [];
  if (among !== undefined)
    return isAmong(
      among,
      (values ?? "").split(",").map((value) => value.trim()),
      how === "in",
    );
  const [, key, operator, value = ""] = EQUALS.exec(text) ?? [];
  if (key !== undefined) return isAmong(key, [value], operator !== "!=");
  const [, not, name] = EXISTS.exec(text) ?? [];
  if (name !== undefined) return (labels) => Object.hasOwn(labels, name) === (not === "");
  throw badRequest(call, `unable to parse requirement: ${JSON.stringify(text)} is no label selector`);
}

/** What must not be one of the values may also be missing. */
function isAmong(key: string, values: readonly string[], wanted: boolean): (labels: Labels) => boolean {
  return (labels) => (Object.hasOwn(labels, key) && values.includes(labels[key] ?? "")) === wanted;
}

function fieldRequirement(text: string, call: Call): (object: KubeObject) => boolean {
  const [, path, operator, wanted = ""] = /^([A-Za-z][\w.]*)(==|=|!=)(.*)$/.exec(text) ?? [];
  if (path === undefined) throw badRequest(call, `invalid field selector: ${JSON.stringify(text)}`);
  return (object) => {
    if (!isServed(path, object)) throw badRequest(call, `field label not supported: ${path}`);
    return (valueAt(object, path) === wanted) === (operator !== "!=");
  };
}

/** Of custom resources an API server selects by name and namespace only. */
function isServed(path: string, { apiVersion }: KubeObject): boolean {
  return ["metadata.name", "metadata.namespace"].includes(path) || isBuiltInGroup(groupOf(apiVersion));
}

function valueAt(object: KubeObject, path: string): string {
  let value: unknown = object;
  for (const field of path.split(".")) value = (value as Readonly<Record<string, unknown>> | undefined)?.[field];
  return value === undefined || value === null ? "" : JSON.stringify(value).replace(/^"(.*)"$/, "$1");
}
