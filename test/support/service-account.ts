import { createKubeClient, parseKubeconfig, Pod, renderKubeconfig, type KubeClient } from "../../src/kube/index.ts";
import type { KubeObject } from "../../src/api/index.ts";
import type { ControlPlane } from "./control-plane.ts";

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** A client with a token of a service account; with `pod`, with one of the account's that only this pod of the namespace is given. */
export async function clientOfAccount(
  { client, kubeconfig }: Pick<ControlPlane, "client" | "kubeconfig">,
  { namespace, name }: Named,
  pod?: string,
): Promise<KubeClient> {
  const account = { apiVersion: "v1", kind: "ServiceAccount", namespace, name };
  const uid = pod && (await client.read(Pod, { namespace, name: pod }))?.metadata.uid;
  const bound = pod === undefined ? {} : { boundObjectRef: { apiVersion: "v1", kind: "Pod", name: pod, uid } };
  const { status } = await client.createSubresource<KubeObject & { readonly status?: { readonly token: string } }>(
    account,
    "token",
    {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: { name },
      spec: { expirationSeconds: 600, ...bound },
    },
  );
  const { server, cluster } = parseKubeconfig(kubeconfig);
  const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64").toString();
  const text = renderKubeconfig({ server, ca, token: status?.token ?? "" });
  return createKubeClient({ kubeconfig: text }, { userAgent: name, fieldManager: name });
}
