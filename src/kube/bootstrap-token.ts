import { decodeData, encodeData } from "./secret-data.ts";
import { randomInt } from "node:crypto";
import { omitUndefined } from "../omit-undefined.ts";
import { Secret } from "./kinds.ts";
import { refTo, typeMeta, type ObjectRef } from "./path.ts";

/** A bootstrap token: the id is public, and names its Secret; the secret is what proves a machine. */
export interface BootstrapToken {
  readonly id: string;
  readonly secret: string;
}

/** What the Secret of a bootstrap token says besides the token. */
export interface BootstrapTokenUse {
  readonly description: string;
  /** In ms since 1970, of which a Secret keeps whole seconds. */
  readonly expiresAt: number;
  /** The groups that its bearer is in, besides `system:bootstrappers`. */
  readonly groups?: readonly string[];
  /** Whether it proves the authority that ConfigMap kube-public/cluster-info shows to those who have not joined yet. */
  readonly signsClusterInfo?: boolean;
}

/** The type of the Secrets in kube-system that are bootstrap tokens. */
export const BOOTSTRAP_TOKEN_TYPE = "bootstrap.kubernetes.io/token";

/** A token that cannot be guessed, with this id where there is one: each character is as likely as any other. */
export function generateBootstrapToken(id: string = randomText(6)): BootstrapToken {
  return { id, secret: randomText(16) };
}

/** The token as machines present it. */
export function renderBootstrapToken({ id, secret }: BootstrapToken): string {
  return `${id}.${secret}`;
}

/** The token of a text; undefined when it is none. */
export function matchBootstrapToken(text: string): BootstrapToken | undefined {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** The Secret of the token with this id. */
export function bootstrapTokenRef(id: string): ObjectRef<Secret> {
  return refTo(Secret, { namespace: "kube-system", name: `bootstrap-token-${id}` });
}

/** The Secret by which an API server knows a token until it expires, and its controllers then remove it. */
export function bootstrapTokenSecret({ id, secret }: BootstrapToken, use: BootstrapTokenUse): Secret {
  const { description, expiresAt, groups = [], signsClusterInfo = false } = use;
  const content = omitUndefined({
    "token-id": id,
    "token-secret": secret,
    description,
    expiration: new Date(expiresAt).toISOString().replace(/\.\d+Z$/, "Z"),
    "usage-bootstrap-authentication": "true",
    "usage-bootstrap-signing": signsClusterInfo ? "true" : undefined,
    "auth-extra-groups": groups.length > 0 ? groups.join(",") : undefined,
  });
  const { namespace, name } = bootstrapTokenRef(id);
  return {
    ...typeMeta(Secret),
    metadata: { name, namespace: namespace ?? "" },
    type: BOOTSTRAP_TOKEN_TYPE,
    data: encodeData(content),
  };
}

/** What such a Secret says, by its keys; one without data says nothing. */
export function readBootstrapTokenSecret({
  data = {},
}: Pick<Secret, "data">): Readonly<Record<string, string | undefined>> {
  return decodeData(data);
}

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";

/** randomInt draws again where a remainder would favour some characters. */
function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}
