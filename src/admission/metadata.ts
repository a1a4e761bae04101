import { z } from "zod";

const text = z.string().optional().catch(undefined);

const metadata = z.object({
  name: text,
  generateName: text,
  namespace: text,
  ownerReferences: z.array(z.object({ kind: z.string(), uid: z.string() })).catch([]),
});

/** The metadata by which an object is told from others, as far as they have the form that the API server sees to: what has not is left out. */
export type Identity = z.infer<typeof metadata>;

/** Reads who an object is, of which nothing has been judged yet. */
export function identityOf(object: { readonly metadata?: unknown } | undefined): Identity {
  return metadata.catch({ ownerReferences: [] }).parse(object?.metadata ?? {});
}
