import "reflect-metadata";
import { webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { isIP } from "node:net";
import type { CertificateSigningRequest } from "../../src/kube/index.ts";

/** What a kubelet asks for; the user who asks is the client's. */
export interface AskedFor {
  readonly node: string;
  readonly hosts: readonly string[];
  readonly organization?: string;
}

/** A request for a kubelet's serving certificate, with a new key. */
export async function servingCertificateRequest(
  name: string,
  { node, hosts, organization = "system:nodes" }: AskedFor,
): Promise<CertificateSigningRequest> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const names = hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value }));
  const request = await x509.Pkcs10CertificateRequestGenerator.create(
    {
      name: [{ O: [organization] }, { CN: [`system:node:${node}`] }],
      keys,
      signingAlgorithm: algorithm,
      extensions: [new x509.SubjectAlternativeNameExtension(names)],
    },
    webcrypto,
  );
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      signerName: "kubernetes.io/kubelet-serving",
      request: Buffer.from(request.toString("pem")).toString("base64"),
      usages: ["digital signature", "server auth"],
    },
  };
}
