import { FAILURE_TOLERANCE_ANNOTATION, SHOOT_UID_ANNOTATION, ZONES_ANNOTATION } from "../api/annotations.ts";
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
import { clusterObject } from "./cluster-object.ts";
import { seedOf, type ControlPlaneContext } from "./context.ts";
import { networkPolicies } from "./isolation/network-policies.ts";

/**
 * The Shoot's namespace in the seed, labelled so that each provider's webhooks find the namespaces that are theirs, and
 * closed before there is a pod in it. Its `Cluster` comes with it: webhooks that change NetworkPolicies look it up.
 */
export function namespace(context: ControlPlaneContext): KubeObject[] {
  const { namespace: name } = context;
  const metadata = { name, labels: namespaceLabels(context), annotations: namespaceAnnotations(context) };
  return [{ apiVersion: "v1", kind: "Namespace", metadata }, clusterObject(context), ...networkPolicies(context)];
}

/** How the namespace of a control plane is marked, in a seed or in the Shoot itself; throws where neither is known. */
export function namespaceLabels(context: ControlPlaneContext): Record<string, string> {
  const { shoot, extensions } = context;
  const provider = context.nodes === undefined ? seedOf(context).spec.provider.type : shoot.spec.provider.type;
  const backup = context.nodes === undefined ? seedOf(context).spec.backup?.provider : undefined;
  const networking = shoot.spec.networking?.type;
  const asked = (shoot.spec.extensions ?? []).filter(({ disabled }) => disabled !== true);
  return {
    [ROLE_LABEL]: "shoot",
    [SEED_PROVIDER_LABEL]: provider,
    [SHOOT_PROVIDER_LABEL]: shoot.spec.provider.type,
    ...(networking === undefined ? {} : { [NETWORKING_PROVIDER_LABEL]: networking }),
    [BACKUP_PROVIDER_LABEL]: backup ?? provider,
    [POD_SECURITY_LABEL]: "privileged",
    [HIGH_AVAILABILITY_LABEL]: "true",
    ...Object.fromEntries((extensions ?? asked).map(({ type }) => [extensionLabel(type), "true"])),
  };
}

/** What the namespace of a control plane says besides. */
export function namespaceAnnotations({ shoot, zones = [] }: ControlPlaneContext): Record<string, string> {
  const uid = shoot.status?.uid ?? shoot.metadata.uid;
  return {
    [FAILURE_TOLERANCE_ANNOTATION]: shoot.spec.controlPlane?.highAvailability?.failureTolerance.type ?? "",
    ...(zones.length === 0 ? {} : { [ZONES_ANNOTATION]: zones.join(",") }),
    ...(uid === undefined ? {} : { [SHOOT_UID_ANNOTATION]: uid }),
  };
}
