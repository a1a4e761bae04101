import { isDeepStrictEqual } from "node:util";
import type { JsonPatchOperation, MergePatch } from "../client.ts";
import { isMap } from "./shape.ts";

/** A patch that does not fit what it is to change. */
export class PatchError extends Error {
  override readonly name = "PatchError";
}

/** The value after a JSON merge patch (RFC 7386). */
export function mergePatched(value: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const result = new Map(isMap(value) ? Object.entries(value) : []);
  for (const [field, change] of Object.entries(patch)) {
    if (change === null) result.delete(field);
    else if (change !== undefined) result.set(field, mergePatched(result.get(field), change));
  }
  return Object.fromEntries(result);
}

/** The value after a JSON patch (RFC 6902), all of it or, by a PatchError, nothing. */
export function jsonPatched(value: unknown, patch: readonly JsonPatchOperation[]): unknown {
  let root: unknown = structuredClone(value);
  for (const operation of patch) root = step(root, operation);
  return root;
}

/** The value after either kind of patch. */
export function patched(value: unknown, patch: MergePatch | readonly JsonPatchOperation[]): unknown {
  return isOperations(patch) ? jsonPatched(value, patch) : mergePatched(value, patch);
}

function isOperations(patch: MergePatch | readonly JsonPatchOperation[]): patch is readonly JsonPatchOperation[] {
  return Array.isArray(patch);
}

function step(root: unknown, { op, path, from = "", value }: JsonPatchOperation): unknown {
  switch (op) {
    case "test":
      if (!isDeepStrictEqual(read(root, path), value)) throw new PatchError(`testing value ${path} failed`);
      return root;
    case "add":
      return write(root, path, structuredClone(value), "insert");
    case "replace":
      read(root, path);
      return write(root, path, structuredClone(value), "set");
    case "remove":
      read(root, path);
      return write(root, path, undefined, "remove");
    case "copy":
      return write(root, path, structuredClone(read(root, from)), "insert");
    case "move": {
      const moved = read(root, from);
      return write(write(root, from, undefined, "remove"), path, moved, "insert");
    }
  }
}

function pointer(path: string): string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw new PatchError(`${JSON.stringify(path)} is no JSON pointer`);
  return path
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function read(root: unknown, path: string): unknown {
  let value = root;
  for (const token of pointer(path)) {
    if (Array.isArray(value)) value = value[indexIn(value, token, value.length - 1, path)] as unknown;
    else if (isMap(value) && Object.hasOwn(value, token)) value = value[token];
    else throw new PatchError(`there is no ${path}`);
  }
  return value;
}

type Way = "insert" | "set" | "remove";

function write(root: unknown, path: string, value: unknown, way: Way): unknown {
  const tokens = pointer(path);
  const last = tokens.pop();
  if (last === undefined) return value;
  const parent = read(root, tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""));
  if (Array.isArray(parent)) writeItem(parent, [last, path], value, way);
  else if (isMap(parent)) writeField(parent, last, value, way);
  else throw new PatchError(`there is no ${path}`);
  return root;
}

function writeItem(list: unknown[], [token, path]: readonly [string, string], value: unknown, way: Way): void {
  const at = way === "insert" && token === "-" ? list.length : indexIn(list, token, list.length, path);
  list.splice(at, way === "insert" ? 0 : 1, ...(way === "remove" ? [] : [value]));
}

function writeField(map: Record<string, unknown>, name: string, value: unknown, way: Way): void {
  if (way === "remove") Reflect.deleteProperty(map, name);
  else Object.defineProperty(map, name, { value, enumerable: true, writable: true, configurable: true });
}

function indexIn(list: readonly unknown[], token: string, highest: number, path: string): number {
  const index = /^(?:0|[1-9]\d*)$/.test(token) ? Number(token) : Number.NaN;
  if (!(index <= highest)) throw new PatchError(`${path}: ${list.length} items have no ${token}`);
  return index;
}
