import { refTo, Secret, type KubeClient } from "../../kube/index.ts";

/**
 * Takes away the token with which every machine of a Shoot joined before 2026-11-26, and which never expired: first where it
 * counts, then where it is kept. Machines that have joined do not need it; new ones come with a token of their own.
 */
export async function removeLastingToken(
  seedClient: KubeClient,
  shootClient: KubeClient,
  namespace: string,
): Promise<void> {
  const kept = refTo(Secret, { namespace, name: "bootstrap-token" });
  const id = (await seedClient.read(kept))?.data?.["token-id"];
  if (id === undefined) return;
  const name = `bootstrap-token-${Buffer.from(id, "base64").toString()}`;
  await shootClient.remove(refTo(Secret, { namespace: "kube-system", name }));
  await seedClient.remove(kept);
}
