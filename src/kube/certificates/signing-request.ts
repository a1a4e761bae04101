import type { KubeClient } from "../client.ts";
import { isConflict, isNotFound } from "../errors.ts";
import type { CertificateSigningRequest } from "../kinds.ts";
import { refOf } from "../path.ts";

/** A decision on a request, with its reason in a sentence. */
export type CertificateDecision = { readonly approved: string } | { readonly denied: string };

/** Reports whether a request still waits for a decision. */
export const isPending = ({ status }: CertificateSigningRequest): boolean => (status?.conditions ?? []).length === 0;

/** Reports whether usages are those of one side of TLS and of nothing else. */
export const areUsagesOf = (side: "client auth" | "server auth", usages: readonly string[]): boolean =>
  usages.includes(side) && usages.every((each) => [side, "digital signature", "key encipherment"].includes(each));

/** Approves or denies a request as it was read. If it has changed or is gone by then, nothing is written. */
export async function decideRequest(
  client: KubeClient,
  request: CertificateSigningRequest,
  decision: CertificateDecision,
): Promise<void> {
  const condition =
    "approved" in decision
      ? { type: "Approved", reason: "RequestApproved", message: decision.approved }
      : { type: "Denied", reason: "RequestDenied", message: decision.denied };
  const { resourceVersion = "" } = request.metadata;
  const patch = { metadata: { resourceVersion }, status: { conditions: [{ ...condition, status: "True" }] } };
  await client.patch(refOf(request), patch, { subresource: "approval" }).catch((error: unknown) => {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  });
}
