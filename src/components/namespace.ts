import { FAILURE_TOLERANCE_ANNOTATION, SHOOT_UID_ANNOTATION } from "../api/annotations.ts";
import {
  BACKUP_PROVIDER_LABEL,
  HIGH_AVAILABILITY_LABEL,
  NETWORKING_PROVIDER_LABEL,
  POD_SECURITY_LABEL,
  ROLE_LABEL,
  SEED_PROVIDER_LABEL,
  SHOOT_PROVIDER_LABEL,
  extensionLabel,
} from "../api/labels.ts";
import type { KubeObject } from "../api/index.ts";
import type { ControlPlaneContext } from "./context.ts";
import { networkPolicies } from "./isolation/network-policies.ts";

/**
 * The Shoot's namespace in the seed, labelled so that each provider's webhooks find the namespaces that are theirs, and
 * closed before there is a pod in it.
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
    [BACKUP_PROVIDER_LABEL]: seed.spec.backup?.provider ?? seed.spec.provider.type,
    [POD_SECURITY_LABEL]: "privileged",
    [HIGH_AVAILABILITY_LABEL]: "true",
    ...Object.fromEntries(extensions.map(({ type }) => [extensionLabel(type), "true"])),
  };
  const uid = shoot.status?.uid ?? shoot.metadata.uid;
  const annotations = {
    [FAILURE_TOLERANCE_ANNOTATION]: shoot.spec.controlPlane?.highAvailability?.failureTolerance.type ?? "",
    ...(uid === undefined ? {} : { [SHOOT_UID_ANNOTATION]: uid }),
  };
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels, annotations } };
  return [object, ...networkPolicies(context)];
}
