import { isNamedObject, type KubeObject } from "../../api/schema/meta.ts";
import { parseJson, parseYamlDocuments } from "../../parsing.ts";
import { createFault, type Fault } from "./fault.ts";
import type { ConfigurationFile } from "./files.ts";

/** An object of the configuration, and the file that it stands in. */
export interface ConfiguredObject {
  readonly file: string;
  readonly object: KubeObject;
}

/** The objects of a file: its documents, and the items of those that are a List. */
export function readDocuments({ file, text }: ConfigurationFile): { objects: ConfiguredObject[]; faults: Fault[] } {
  const objects: ConfiguredObject[] = [];
  const faults: Fault[] = [];
  for (const [index, document] of parse(file, text, faults).entries()) {
    for (const one of itemsOf(document))
      if (isNamedObject(one) && isPlaced(one)) objects.push({ file, object: one });
      else faults.push(createFault({ file }, `document ${index + 1} ${lackOf(one)}`));
  }
  return { objects, faults };
}

function parse(file: string, text: string, faults: Fault[]): unknown[] {
  try {
    const documents = file.endsWith(".json") ? [parseJson(text, "the file")] : parseYamlDocuments(text, "the file");
    return documents.filter((document) => document !== null && document !== undefined);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    faults.push(createFault({ file }, `${reason}; correct it, or take it out of the folder`));
    return [];
  }
}

function itemsOf(document: unknown): readonly unknown[] {
  const { apiVersion, kind, items } = document as Partial<Record<string, unknown>>;
  return apiVersion === "v1" && kind === "List" && Array.isArray(items) ? (items as unknown[]) : [document];
}

function lackOf(document: unknown): string {
  if (typeof document !== "object" || document === null) return "is no object: write apiVersion, kind and metadata";
  const { apiVersion, kind } = document as Partial<Record<string, unknown>>;
  const lacking = [
    ...(isText(apiVersion) ? [] : ["apiVersion"]),
    ...(isText(kind) ? [] : ["kind"]),
    ...(isNamedObject({ apiVersion: "v1", kind: "Any", metadata: metadataOf(document) }) ? [] : ["metadata.name"]),
  ];
  if (lacking.length === 0) return "has a metadata.namespace that is no text: write the namespace of its Project";
  return `has no ${lacking.join(" and no ")}: each document is an object with all of apiVersion, kind and metadata.name`;
}

const isPlaced = ({ metadata }: KubeObject): boolean => ["string", "undefined"].includes(typeof metadata.namespace);

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

const metadataOf = (document: object): unknown => (document as { readonly metadata?: unknown }).metadata;
