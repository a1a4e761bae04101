import { unlessGone, type KubeClient, type ObjectRef, type RemoveOptions } from "../../kube/index.ts";

/** Annotates an object and deletes it; one that went meanwhile is fine. */
export async function removeAnnotated(
  client: KubeClient,
  ref: ObjectRef,
  annotations: Readonly<Record<string, string>>,
  options: RemoveOptions = {},
): Promise<void> {
  const annotated = await unlessGone(client.patch(ref, { metadata: { annotations } }));
  if (annotated !== undefined) await client.remove(ref, options);
}
