import type { OperationType } from "../api/index.ts";
import type { ExtensionKind } from "../api/extensions/kinds.ts";
import type { ExtensionControllerOptions } from "./controller-options.ts";
import { errorCodes, errorMessage, OperationRefused } from "./errors.ts";
import type { ExtensionObject } from "./extension-object.ts";
import { words } from "./words.ts";

/** Runs one operation and tells metrics of its end, however it ends, and the object's owners by an Event, unless it was cut off. */
export async function tellEnd<T>(
  { kind, type, metrics, events }: Told,
  { object, operation, signal }: Operation,
  work: () => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  const count = (result: "succeeded" | "failed" | "aborted") =>
    metrics?.ended({ kind, type }, { operation, result, seconds: (performance.now() - begun) / 1000 });
  const about = { regarding: object, action: operation };
  try {
    const done = await work();
    count("succeeded");
    events?.record({ ...about, reason: words[operation].reason, note: `${words[operation].done} ${kind}` });
    return done;
  } catch (error) {
    const aborted = signal.aborted || error instanceof OperationRefused;
    count(aborted ? "aborted" : "failed");
    const note = `Error ${words[operation].inError} ${kind}: ${errorMessage(error)}${inBrackets(errorCodes(error))}`;
    if (!aborted) events?.record({ ...about, type: "Warning", reason: `${operation}Error`, note });
    throw error;
  }
}

type Told = Pick<ExtensionControllerOptions<ExtensionKind>, "kind" | "type" | "metrics" | "events">;

/** What ran, on the object as it was before. */
interface Operation {
  readonly object: ExtensionObject;
  readonly operation: OperationType;
  readonly signal: AbortSignal;
}

const inBrackets = (codes: readonly string[]): string => (codes.length === 0 ? "" : ` [${codes.join(", ")}]`);
