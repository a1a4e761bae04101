import { z } from "zod";
import { parseJson } from "../../parsing.ts";
import { LEADERSHIP_ANNOTATION } from "../annotations.ts";
import { object } from "../schema/fields.ts";
import type { KubeObject } from "../schema/meta.ts";

/**
 * Who may act on an extension object (GEP-1): a controller acts only while the DNS TXT record says that `value` is in
 * charge. `epoch` grows with every change of the leader, so that a late writer can be told from the present one.
 */
export const leadership = object({
  record: z.string().describe("Name of the DNS TXT record that says which Seed is responsible."),
  value: z.string().describe("What the record says while this object's Seed is responsible."),
  leaseSeconds: z.int32().min(1).describe("How long, in seconds, an observation of the record holds."),
  shoot: z
    .string()
    .optional()
    .describe("UID of the Shoot, as the record says it: a later Shoot may have the same name."),
  epoch: z.int().optional().describe("Number of the leader in the Shoot's history: 1 for the first Seed."),
});

/** The epoch of a Shoot's first leader, and of what does not say its epoch. */
export const FIRST_EPOCH = 1;

/** Who may act on an extension object (GEP-1). */
export type Leadership = z.infer<typeof leadership>;

/**
 * Who may act on the object; undefined where it does not say. Seeds with Gardener's own definitions have it in an annotation.
 * Throws an Error where that cannot be read: an object that says something is not one that says nothing.
 */
export function leadershipOf({ metadata, spec }: Led): Leadership | undefined {
  const text = metadata.annotations?.[LEADERSHIP_ANNOTATION];
  if (spec.leadership !== undefined || text === undefined) return spec.leadership;
  return leadership.parse(parseJson(text, `annotation ${LEADERSHIP_ANNOTATION}`));
}

interface Led extends Pick<KubeObject, "metadata"> {
  readonly spec: { readonly leadership?: Leadership | undefined };
}
