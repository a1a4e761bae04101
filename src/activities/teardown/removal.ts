import { isNotFound, type KubeClient, type ObjectRef, type RemoveOptions } from "../../kube/index.ts";

/** Annotates an object and deletes it; one that went meanwhile is fine. */
export async function removeAnnotated(
  client: KubeClient,
  ref: ObjectRef,
  annotations: Readonly<Record<string, string>>,
  options: RemoveOptions = {},
): Promise<void> {
  try {
    await client.patch(ref, { metadata: { annotations } });
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  await client.remove(ref, options);
}
