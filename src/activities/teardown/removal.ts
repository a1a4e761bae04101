import type { KubeObject } from "../../api/index.ts";
import { inWords, refOf, unlessGone, type KubeClient, type RemoveOptions } from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { StepError } from "../step-error.ts";

/**
 * Annotates the object that was read and deletes it; one that went meanwhile is fine. Another one that has come by its name is
 * left alone: that is a {@link StepError}, and the caller reads again.
 */
export async function removeAnnotated(
  client: KubeClient,
  object: KubeObject,
  annotations: Readonly<Record<string, string>>,
  options: Pick<RemoveOptions, "propagationPolicy"> = {},
): Promise<void> {
  const ref = refOf(object);
  const identity = omitUndefined({ uid: object.metadata.uid });
  try {
    const annotated = await unlessGone(client.patch(ref, { metadata: { ...identity, annotations } }));
    if (annotated !== undefined) await client.remove(ref, { ...options, ...identity });
  } catch (cause) {
    const current = await client.read(ref);
    if (current === undefined) return;
    if (current.metadata.uid === object.metadata.uid) throw cause;
    throw new StepError(`cannot delete ${inWords(ref)}: it is gone, and another one has come by its name`);
  }
}
