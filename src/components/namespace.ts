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
  const metadata = { name, labels: labelsOf(context), annotations: annotationsOf(context) };
  return [{ apiVersion: "v1", kind: "Namespace", metadata }, clusterObject(context), ...networkPolicies(context)];
}

function labelsOf(context: ControlPlaneContext): Record<string, string> {
  const { shoot, extensions } = context;
  const seed = seedOf(context);
  const networking = shoot.spec.networking?.type;
  const asked = (shoot.spec.extensions ?? []).filter(({ disabled }) => disabled !== true);
  return {
    [ROLE_LABEL]: "shoot",
    [SEED_PROVIDER_LABEL]: seed.spec.provider.type,
    [SHOOT_PROVIDER_LABEL]: shoot.spec.provider.type,
    ...(networking === undefined ? {} : { [NETWORKING_PROVIDER_LABEL]: networking }),
    [BACKUP_PROVIDER_LABEL]: seed.spec.backup?.provider ?? seed.spec.provider.type,
    [POD_SECURITY_LABEL]: "privileged",
    [HIGH_AVAILABILITY_LABEL]: "true",
    ...Object.fromEntries((extensions ?? asked).map(({ type }) => [extensionLabel(type), "true"])),
  };
}

function annotationsOf({ shoot, zones = [] }: ControlPlaneContext): Record<string, string> {
  const uid = shoot.status?.uid ?? shoot.metadata.uid;
  return {
    [FAILURE_TOLERANCE_ANNOTATION]: shoot.spec.controlPlane?.highAvailability?.failureTolerance.type ?? "",
    ...(zones.length === 0 ? {} : { [ZONES_ANNOTATION]: zones.join(",") }),
    ...(uid === undefined ? {} : { [SHOOT_UID_ANNOTATION]: uid }),
  };
}
