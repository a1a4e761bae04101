import type { AdmissionRequest, Webhook } from "../../admission/review.ts";
import { Cluster, type KubeObject } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { ControlPlaneWebhook } from "./define.ts";
import { differences, mutate, mutatorFor } from "./mutate.ts";

/**
 * The webhook as a function of admission requests, for a webhook server. An error of a mutator fails the request: the API
 * server names the webhook, and the flow's step that writes the object says so.
 */
export function answerWith(webhook: ControlPlaneWebhook, client: Pick<KubeClient, "read">): Webhook {
  return async (request) => {
    const { object, namespace } = request;
    if (object === undefined || mutatorFor(object) === undefined) return { allowed: true };
    const cluster = namespace === undefined ? undefined : await client.read(Cluster, { name: namespace });
    const mutated = await mutate(webhook, object, { cluster });
    return { allowed: true, patch: differences(object, keepClaims(request, mutated)) };
  };
}

/** The claims of a StatefulSet that is there cannot change: it keeps those that it was made with. */
function keepClaims({ oldObject }: AdmissionRequest, mutated: KubeObject): KubeObject {
  if (mutated.kind !== "StatefulSet" || oldObject === undefined) return mutated;
  const { volumeClaimTemplates } = oldObject["spec"] as { volumeClaimTemplates?: unknown };
  return { ...mutated, spec: { ...(mutated["spec"] as object), volumeClaimTemplates } };
}
