import { createHash } from "node:crypto";
import {
  bootstrapTokenRef,
  bootstrapTokenSecret,
  generateBootstrapToken,
  readBootstrapTokenSecret,
  renderBootstrapToken,
  type KubeClient,
} from "../../kube/index.ts";

/** In milliseconds: how long a new machine has to join. */
const LIFETIME = 20 * 60_000;

/** In milliseconds: a token that has less left is replaced. */
const LEFT = 10 * 60_000;

/**
 * A token with which this machine, and it alone, asks for its first certificate: a Secret of the Shoot's kube-system, under
 * an id made of the machine's name, which the Shoot's API server takes until it expires and its controllers then remove.
 */
export async function ensureBootstrapToken(
  shootClient: KubeClient,
  machine: string,
  now = new Date(),
): Promise<string> {
  const id = createHash("sha256").update(machine).digest("hex").slice(0, 6);
  const present = readBootstrapTokenSecret((await shootClient.read(bootstrapTokenRef(id))) ?? {});
  const { "token-secret": secret, expiration = "" } = present;
  if (secret !== undefined && Date.parse(expiration) - now.getTime() > LEFT)
    return renderBootstrapToken({ id, secret });
  const token = generateBootstrapToken(id);
  const use = { description: `Lets machine ${machine} join.`, expiresAt: now.getTime() + LIFETIME };
  await shootClient.apply(bootstrapTokenSecret(token, use));
  return renderBootstrapToken(token);
}
