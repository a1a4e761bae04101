import type { KubeObject } from "../../api/schema/meta.ts";
import { refOf, type KubeClient } from "../../kube/index.ts";
import { parseJson } from "../../parsing.ts";
import { StepError } from "../step-error.ts";

/** From when to when a token is good. */
export interface TokenLife {
  readonly issued: Date;
  readonly expires: Date;
}

/** A token of a ServiceAccount for the API server itself, good for so many seconds. */
export async function requestToken(client: KubeClient, account: KubeObject, seconds: number): Promise<string> {
  const { status } = await client.createSubresource<TokenRequest>(refOf(account), "token", {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { name: account.metadata.name },
    spec: { expirationSeconds: seconds },
  });
  if (!status?.token) throw new StepError(`ServiceAccount ${account.metadata.name} got no token`);
  return status.token;
}

interface TokenRequest extends KubeObject {
  readonly spec: { readonly expirationSeconds: number };
  readonly status?: { readonly token?: string };
}

/** What the token says of itself, which only its issuer could verify; undefined when it is no token. */
export function lifeOf(token: string): TokenLife | undefined {
  try {
    const [, payload = ""] = token.split(".");
    const { iat, exp } = parseJson(Buffer.from(payload, "base64url").toString(), "the token") as Record<
      string,
      unknown
    >;
    if (typeof iat !== "number" || typeof exp !== "number") return undefined;
    return { issued: new Date(iat * 1000), expires: new Date(exp * 1000) };
  } catch {
    return undefined;
  }
}
