import { randomInt } from "node:crypto";
import type { KubeObject } from "../../api/index.ts";

/** A token with which a new machine asks for its first certificate. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

/** A new random token. */
export function createBootstrapToken(): BootstrapToken {
  return { id: randomText(6), secret: randomText(16) };
}

/** The Secret of the Shoot's kube-system that makes its API server accept the token. */
export function bootstrapTokenSecret({ id, secret }: BootstrapToken): KubeObject {
  const content = {
    "token-id": id,
    "token-secret": secret,
    description: "Lets the machines of this cluster join it.",
    "usage-bootstrap-authentication": "true",
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `bootstrap-token-${id}`, namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    data: Object.fromEntries(
      Object.entries(content).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    ),
  };
}

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}
