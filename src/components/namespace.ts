import { SHOOT_UID_ANNOTATION } from "../api/annotations.ts";
import {
  BACKUP_PROVIDER_LABEL,
  NETWORKING_PROVIDER_LABEL,
  ROLE_LABEL,
  SEED_PROVIDER_LABEL,
  SHOOT_PROVIDER_LABEL,
  extensionLabel,
} from "../api/labels.ts";
import type { KubeObject } from "../api/index.ts";
import { clusterObject } from "./cluster-object.ts";
import type { ControlPlaneContext } from "./context.ts";
import { networkPolicies } from "./isolation/network-policies.ts";

/**
 * The Shoot's namespace in the seed, labelled so that each provider's webhooks find the namespaces that are theirs, and
 * closed before there is a pod in it. Its `Cluster` comes with it: webhooks that change NetworkPolicies look it up.
 */
export function namespace(context: ControlPlaneContext): KubeObject[] {
  const { namespace: name, shoot, seed } = context;
  const networking = shoot.spec.networking?.type;
  const extensions = (shoot.spec.extensions ?? []).filter(({ disabled }) => disabled !== true);
  const labels = {
    [ROLE_LABEL]: "shoot",
    [SEED_PROVIDER_LABEL]: seed.spec.provider.type,
    [SHOOT_PROVIDER_LABEL]: shoot.spec.provider.type,
    ...(networking === undefined ? {} : { [NETWORKING_PROVIDER_LABEL]: networking }),
    ...(seed.spec.backup ? { [BACKUP_PROVIDER_LABEL]: seed.spec.backup.provider } : {}),
    ...Object.fromEntries(extensions.map(({ type }) => [extensionLabel(type), "true"])),
  };
  const uid = shoot.status?.uid ?? shoot.metadata.uid;
  const annotations = uid === undefined ? {} : { annotations: { [SHOOT_UID_ANNOTATION]: uid } };
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels, ...annotations } };
  return [object, clusterObject(context), ...networkPolicies(context)];
}
