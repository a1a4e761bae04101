import "reflect-metadata";
import { createPrivateKey, randomBytes, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";
import { CertificateSigningRequest, createReflector, refOf } from "../../src/kube/index.ts";
import type { ControlPlane } from "./control-plane.ts";

/** What signs certificates of approved requests, as kube-controller-manager does. */
export interface Signer {
  /** How long the certificates are good that are signed from now on, in ms. */
  lifetime: number;
  stop(): Promise<void>;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** Signs, with the cluster's CA, what is approved, for seconds if need be. How requests are read is tried with `startKubernetesSigner`. */
export function startSigner(cluster: ControlPlane): Signer {
  const requests = createReflector(cluster.client, CertificateSigningRequest, {
    onEvent: async ({ object, type }) => {
      const isApproved = object.status?.conditions?.some((condition) => condition.type === "Approved") ?? false;
      if (type === "deleted" || !isApproved || object.status?.certificate !== undefined) return;
      const pem = await sign(cluster, Buffer.from(object.spec.request, "base64").toString(), signer.lifetime);
      const certificate = Buffer.from(pem).toString("base64");
      await cluster.client.patch(refOf(object), { status: { certificate } }, { subresource: "status" });
    },
  });
  const signer = { lifetime: 86_400_000, stop: () => requests.stop() };
  requests.start();
  return signer;
}

async function sign({ authority }: ControlPlane, pem: string, lifetime: number): Promise<string> {
  const request = new x509.Pkcs10CertificateRequest(pem);
  const der = createPrivateKey(authority.key).export({ type: "pkcs8", format: "der" });
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: randomBytes(8).toString("hex"),
      notBefore: new Date(Date.now() - 1_000),
      notAfter: new Date(Date.now() + lifetime),
      subject: request.subjectName,
      issuer: new x509.X509Certificate(authority.certificate).subjectName,
      publicKey: request.publicKey,
      signingKey: await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]),
      signingAlgorithm: algorithm,
      extensions: [
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      ],
    },
    webcrypto,
  );
  return certificate.toString("pem");
}
