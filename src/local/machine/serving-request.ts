import "reflect-metadata";
import * as x509 from "@peculiar/x509";

/** What a kubelet asks to be certified: the subject, and the names and addresses under which it serves. */
export interface ServingRequest {
  readonly subject: string;
  readonly hosts: readonly string[];
}

/** Reads a certificate request in PEM; throws where it is none. Names and addresses are sorted. */
export function readServingRequest(pem: string): ServingRequest {
  const request = new x509.Pkcs10CertificateRequest(pem);
  const names =
    request.extensions.find((one) => one instanceof x509.SubjectAlternativeNameExtension)?.names.items ?? [];
  return { subject: request.subject, hosts: names.map(({ value }) => value).toSorted() };
}

/** What the kubelet of a machine may ask for, and nothing else: Kubernetes gives no other subject to a node. */
export const servingRequestOf = ({ name, address }: { readonly name: string; readonly address: string }) => ({
  subject: new x509.Name([{ O: ["system:nodes"] }, { CN: [`system:node:${name}`] }]).toString(),
  hosts: [name, address].toSorted(),
});
