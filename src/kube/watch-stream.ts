import type { KubeObject } from "../api/schema/meta.ts";
import { parseJson } from "../parsing.ts";
import { refuseDense } from "./bounds.ts";
import type { KubeError } from "./errors.ts";
import { refusalError } from "./refusal.ts";

/** One line of a watch. A bookmark says only how far the server has come. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly object: Pick<KubeObject, "metadata"> };

/** The events of a watch's body, from that API server; an error event (410 above all) is thrown as KubeError. */
export async function* readWatch<T extends KubeObject>(
  what: string,
  body: AsyncIterable<Uint8Array>,
  server: string,
  largestAnswer?: number,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of lines(body, largestAnswer)) {
    if (largestAnswer !== undefined) refuseDense(Buffer.from(line), largestAnswer);
    const event = parseJson(line, "a line of the watch") as
      WatchEvent<T> | { type: "ERROR"; object: { code?: number } };
    if (event.type === "ERROR") throw errorOf(what, event.object, server);
    yield event;
  }
}

/** In characters. etcd takes requests of 1.5 MiB unless told otherwise, so no object is near to it. */
const LONGEST_LINE = 32 * 2 ** 20;

/** A line is put together once, however many pieces it comes in. */
async function* lines(body: AsyncIterable<Uint8Array>, longest = LONGEST_LINE): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [parts, length]: [string[], number] = [[], 0];
  for await (const chunk of body) {
    const [end = "", ...begun] = decoder.decode(chunk, { stream: true }).split("\n");
    parts.push(end);
    length += end.length;
    if (length > longest) throw new Error(`a line of the watch is longer than ${longest} characters`);
    if (begun.length === 0) continue;
    const whole = [parts.join(""), ...begun];
    const rest = whole.pop() ?? "";
    [parts, length] = [[rest], rest.length];
    yield* whole.filter((line) => line !== "");
  }
}

function errorOf(what: string, status: { code?: number }, server: string): KubeError {
  return refusalError(what, { status: status.code ?? 500, body: status, server });
}
