import { FORCE_TAKEOVER_ANNOTATION } from "../annotations.ts";
import type { Shoot } from "../shoot/shoot.ts";

/** An approval to move a Shoot without its old Seed; `by` and `at` are filled in by admission. */
export interface Takeover {
  readonly reason: string;
  readonly by?: string;
  readonly at?: string;
  /** The approver says that the old Seed is switched off: then the takeover does not rely on its fence. */
  readonly sourceIsOff?: boolean;
}

/** The approval that the Shoot carries; undefined when there is none, or none that could be understood. */
export function readTakeover({
  metadata,
}: {
  readonly metadata: Pick<Shoot["metadata"], "annotations">;
}): Takeover | undefined {
  return parseTakeover(metadata.annotations?.[FORCE_TAKEOVER_ANNOTATION] ?? "");
}

/** The approval in an annotation's text; undefined unless it is a JSON object with a reason. */
export function parseTakeover(text: string): Takeover | undefined {
  const given = parseObject(text);
  const reason = typeof given?.["reason"] === "string" ? given["reason"].trim() : "";
  if (given === undefined || reason === "") return undefined;
  const { by, at, sourceIsOff } = given;
  return {
    reason,
    ...(typeof by === "string" && { by }),
    ...(typeof at === "string" && { at }),
    ...(typeof sourceIsOff === "boolean" && { sourceIsOff }),
  };
}

/** Which of the two protections a takeover relies on, as a sentence for the approver. */
export function describeReliance(seed: string, sourceIsOff: boolean): string {
  if (sourceIsOff)
    return `The takeover relies on your word that Seed ${seed} is off: were it not, controllers there that do not know leadership would go on acting.`;
  return `The takeover relies on the fence of Seed ${seed}: should it still run, its worker stops the control plane once it reads the new leadership record; controllers there that do not know leadership act until then. Where you know that it is off, say so (--source-is-off).`;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
