import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { extensionTraffic } from "./extension-traffic.ts";
import { ownTraffic } from "./own-traffic.ts";
import { policy } from "./policy.ts";

/**
 * Closes the Shoot's namespace in the seed: no pod there reaches anything, nor is it reached, but for what these policies
 * name. Kubernetes adds up policies, so what one allows no other takes away.
 */
export function networkPolicies(context: ControlPlaneContext): KubeObject[] {
  const denyAll = policy(context, "deny-all", { pods: {}, ingress: [], egress: [] });
  return [denyAll, ...ownTraffic(context), ...extensionTraffic(context)];
}
