import type { KubeObject } from "../api/index.ts";
import type { ControlPlaneContext } from "./context.ts";

/** The Shoot's namespace in the seed, labelled so that each provider's webhooks find the namespaces that are theirs. */
export function namespace({ namespace: name, shoot, seed }: ControlPlaneContext): KubeObject[] {
  const networking = shoot.spec.networking?.type;
  const extensions = (shoot.spec.extensions ?? []).filter(({ disabled }) => disabled !== true);
  const labels = {
    "gardener.cloud/role": "shoot",
    "seed.gardener.cloud/provider": seed.spec.provider.type,
    "shoot.gardener.cloud/provider": shoot.spec.provider.type,
    ...(networking === undefined ? {} : { "networking.shoot.gardener.cloud/provider": networking }),
    ...(seed.spec.backup ? { "backup.gardener.cloud/provider": seed.spec.backup.provider } : {}),
    ...Object.fromEntries(extensions.map(({ type }) => [`extensions.gardener.cloud/${type}`, "true"])),
  };
  const uid = shoot.status?.uid ?? shoot.metadata.uid;
  const annotations = uid === undefined ? {} : { annotations: { "shoot.gardener.cloud/uid": uid } };
  return [{ apiVersion: "v1", kind: "Namespace", metadata: { name, labels, ...annotations } }];
}
