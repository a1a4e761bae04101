import { createHash, randomInt } from "node:crypto";
import { refTo, Secret, type KubeClient } from "../../kube/index.ts";

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
  const ref = refTo(Secret, { namespace: "kube-system", name: `bootstrap-token-${id}` });
  const { "token-secret": present, expiration } = decoded((await shootClient.read(ref))?.data ?? {});
  if (present !== undefined && Date.parse(expiration ?? "") - now.getTime() > LEFT) return `${id}.${present}`;
  const secret = randomText(16);
  const content = {
    "token-id": id,
    "token-secret": secret,
    description: `Lets machine ${machine} join.`,
    expiration: new Date(now.getTime() + LIFETIME).toISOString(),
    "usage-bootstrap-authentication": "true",
  };
  await shootClient.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bootstrap-token-${id}`, namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    data: mapped(content, (value) => Buffer.from(value).toString("base64")),
  });
  return `${id}.${secret}`;
}

const decoded = (data: Readonly<Record<string, string>>): Record<string, string | undefined> =>
  mapped(data, (value) => Buffer.from(value, "base64").toString());

const mapped = (entries: Readonly<Record<string, string>>, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, change(value)]));

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}
