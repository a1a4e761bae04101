import { z } from "zod";
import { object } from "../schema/fields.ts";
import type { TypeRef } from "../schema/kind.ts";

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

/** Whether a reference is to an object of a kind. Its group counts, too: another's may have a kind of the same name. */
export function refersTo(ref: ContractReference | undefined, type: TypeRef<unknown>): ref is ContractReference {
  return ref?.kind === type.kind && ref.apiGroup === apiGroupOf(type);
}

/** The API group of an object or a kind, without its version. */
export const apiGroupOf = ({ apiVersion }: { readonly apiVersion: string }): string => apiVersion.replace(/\/.*$/, "");
