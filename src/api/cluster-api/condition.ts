import { z } from "zod";
import { listMap, object, openEnum, timestamp } from "../schema/fields.ts";

/** One aspect of an object's state, as Kubernetes itself writes it (metav1.Condition). */
export const condition = object({
  type: z.string().describe("Type is the aspect, in CamelCase; ours carry a domain before it."),
  status: openEnum("True", "False", "Unknown").describe("Status is True, False or Unknown."),
  observedGeneration: z.int().optional().describe("ObservedGeneration is the generation that it was found out for."),
  lastTransitionTime: timestamp().describe("LastTransitionTime is when the status changed last."),
  reason: z.string().describe("Reason is why, in one CamelCase word."),
  message: z.string().describe("Message is why, for people; may be empty."),
});

/** Conditions, of which each writer owns its own: one per type. */
export const conditions = z.array(condition).meta(listMap("type"));

/** One aspect of an object's state, as Kubernetes itself writes it (metav1.Condition). */
export type Condition = z.infer<typeof condition>;
