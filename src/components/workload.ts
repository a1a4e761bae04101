import { CONTROL_PLANE_LABEL, ROLE_LABEL, WEBHOOK_TARGET_LABEL } from "../api/labels.ts";

/** Labels of a control-plane workload and its pods, as upstream extensions select them. */
export const controlPlaneLabels = (role: string) => ({ app: "kubernetes", role });

/** The label that tells the control plane's objects from what extensions add. */
export const controlPlaneRole = { [ROLE_LABEL]: "controlplane" };

/** The label by which control-plane webhooks select an object; its pods do not have it. */
export const webhookTarget = { [WEBHOOK_TARGET_LABEL]: "true" };

/** Gardener's priority classes, from deploy/seed/priority-classes.yaml: of what everything else needs, and of the rest. */
export const priorityClass = { first: "gardener-system-500", second: "gardener-system-300" } as const;

/** What all pods of a control plane have in common: no access to the seed's API, the runtime's seccomp profile. */
export const controlPlanePod = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: { seccompProfile: { type: "RuntimeDefault" } },
};

/** As `controlPlanePod`, for programs that need neither root nor a low port. */
export const unprivilegedPod = {
  ...controlPlanePod,
  securityContext: {
    ...controlPlanePod.securityContext,
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
  },
};

/** The pod's template, for the nodes of a self-hosted control plane: beside its static pods, on the host's network. */
export function onControlPlaneNodes<T extends { readonly spec: object }>(template: T) {
  const spec = {
    ...template.spec,
    hostNetwork: true,
    nodeSelector: { [CONTROL_PLANE_LABEL]: "" },
    tolerations: [{ key: CONTROL_PLANE_LABEL, operator: "Exists" }],
  };
  return { ...template, spec };
}

/** A container's rights: no more than the capabilities named. */
export function restricted(...capabilities: string[]) {
  const add = capabilities.length === 0 ? {} : { add: capabilities };
  return { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"], ...add } };
}

/** Has a container that fails leave the end of its log in its pod's status: the step that waits for it says so. */
export const leavesLastWords = { terminationMessagePolicy: "FallbackToLogsOnError" };

/** An HTTPS (or HTTP) probe of a health endpoint. */
export function probe(path: string, port: number, timing: Timing, scheme: "HTTPS" | "HTTP" = "HTTPS") {
  return { httpGet: { path, port, scheme }, timeoutSeconds: 10, ...timing };
}

/** How often a probe asks, and how often in a row it may fail. */
export interface Timing {
  readonly periodSeconds: number;
  readonly failureThreshold: number;
  /** How long an answer may take; 10 where it is not said. */
  readonly timeoutSeconds?: number;
}
