import { Bastion, type ShootBastion } from "../../api/index.ts";
import { typeMeta } from "../../kube/index.ts";
import { bastionUserData } from "./user-data.ts";

/** The extension Bastion that a seed has for a Bastion of the garden, beside the Shoot's control plane. Pure. */
export function extensionBastion({ metadata, spec }: ShootBastion, technicalID: string): Bastion {
  return {
    ...typeMeta(Bastion),
    metadata: { name: metadata.name, namespace: technicalID },
    spec: {
      type: spec.providerType ?? "",
      userData: Buffer.from(bastionUserData(spec.sshPublicKey)).toString("base64"),
      ingress: spec.ingress.map(({ ipBlock }) => ({ ipBlock })),
    },
  };
}
