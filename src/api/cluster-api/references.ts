import { z } from "zod";
import { object } from "../schema/fields.ts";

/** Names an object of the same namespace; the version of its kind is the one that keeps the contract. */
export const contractReference = object({
  apiGroup: z.string().describe("APIGroup is the API group of the object."),
  kind: z.string().describe("Kind of the object."),
  name: z.string().describe("Name of the object."),
});

/** Names a template of the same namespace, with the version of its kind. */
export const templateReference = object({
  apiVersion: z.string().describe("APIVersion is the API group and version of the template."),
  kind: z.string().describe("Kind of the template."),
  name: z.string().describe("Name of the template."),
});

/** Names an object of the same namespace; the version of its kind is the one that keeps the contract. */
export type ContractReference = z.infer<typeof contractReference>;
