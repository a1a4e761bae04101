import { createHmac } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import { issueAuthority, issueCertificate } from "../../src/activities/secrets/pki.ts";
import { authorityHashes } from "../../src/gardenadm/cluster/authorities.ts";
import { parseKubeconfig, type BootstrapToken } from "../../src/kube/index.ts";
import type { ControlPlane } from "./control-plane.ts";

/** What a machine is told to join by. */
export interface Announced {
  /** URL. */
  readonly address: string;
  /** Of the cluster's authorities. */
  readonly hashes: readonly string[];
}

/**
 * Says at an address of loopback which cluster this is, and proves it by these tokens, as controller managers do; `server` is what
 * machines are told to find API servers by, the cluster's own unless said. It goes with this process.
 */
export async function announceCluster(
  { kubeconfig: known }: ControlPlane,
  tokens: readonly BootstrapToken[],
  server?: string,
): Promise<Announced> {
  const { cluster } = parseKubeconfig(known);
  const named = { ...cluster, ...(server !== undefined && { server }) };
  const kubeconfig = stringify({ clusters: [{ name: "", cluster: named }] });
  const authority = await issueAuthority("kubernetes", new Date());
  const request = { commonName: "kube-apiserver", hosts: ["127.0.0.1"], usages: ["server"] as const };
  const { certificate: cert, key } = await issueCertificate(authority, request, new Date());
  const proofs = tokens.map((token) => [`jws-kubeconfig-${token.id}`, signature(kubeconfig, token)] as const);
  const data = { kubeconfig, ...Object.fromEntries(proofs) };
  const answering = createServer({ cert, key }, (_, answer) => void answer.end(JSON.stringify({ data })));
  await new Promise<void>((resolve) => answering.listen(0, "127.0.0.1", resolve));
  answering.unref();
  const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64").toString();
  return {
    address: `https://127.0.0.1:${(answering.address() as AddressInfo).port}`,
    hashes: authorityHashes(ca, "the test"),
  };
}

/** A JWS by HS256, without its payload. */
function signature(payload: string, { id, secret }: BootstrapToken): string {
  const header = Buffer.from(JSON.stringify({ alg: "HS256", kid: id })).toString("base64url");
  const signed = `${header}.${Buffer.from(payload).toString("base64url")}`;
  return `${header}..${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
