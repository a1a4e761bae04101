import { createHash } from "node:crypto";
import { PREPARED_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";

/**
 * The annotation of a Secret that is brought to a seed before its Shoot: SHA-256 of what was brought. Until the Shoot
 * arrives it is a copy: a later one may replace it, and it is not kept as state.
 */
export const preparedMark = (secret: Content) => ({ [PREPARED_ANNOTATION]: fingerprint(secret) });

/** Whether the Secret is still such a copy, unchanged since it was brought. */
export const isPrepared = (secret: Pick<KubeObject, "metadata"> & Content): boolean =>
  secret.metadata.annotations?.[PREPARED_ANNOTATION] === fingerprint(secret);

/** The change that makes a copy the Shoot's own. */
export const adoption = { metadata: { annotations: { [PREPARED_ANNOTATION]: null } } };

interface Content {
  readonly data?: Readonly<Record<string, string>>;
}

function fingerprint({ data = {} }: Content): string {
  const sorted = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
