import type { ErrorCode, ShootBastion } from "../../api/index.ts";
import { setCondition, type ConditionUpdate } from "../../kube/index.ts";
import type { BastionNews } from "./activities.ts";

/** The condition by which users and their tools see that a bastion can be used (Gardener: `BastionReady`). */
export const BASTION_READY = "BastionReady";

/** Whether its users were told that the Bastion, as it is asked for now, can be used. */
export const isToldReady = ({ status, metadata }: Pick<ShootBastion, "status" | "metadata">): boolean =>
  status?.observedGeneration === metadata.generation &&
  (status?.conditions ?? []).some((one) => one.type === BASTION_READY && one.status === "True");

/**
 * The status that says the news; what other writers have in it stays. `generation` is the one that was acted on, if one was: users
 * may have changed the Bastion since. Pure.
 */
export function statusWith(
  { status }: Pick<ShootBastion, "status">,
  news: BastionNews,
  generation = status?.observedGeneration,
): NonNullable<ShootBastion["status"]> {
  const { ingress: _, ...rest } = status ?? {};
  const conditions = setCondition(status?.conditions, { type: BASTION_READY, ...conditionOf(news) });
  const known = { ...rest, conditions, ...(generation !== undefined && { observedGeneration: generation }) };
  const ingress = news.is === "ready" ? news.ingress : status?.ingress;
  return ingress === undefined ? known : { ...known, ingress };
}

function conditionOf(news: BastionNews): Omit<ConditionUpdate, "type"> {
  switch (news.is) {
    case "making":
      return { status: "Progressing", reason: "Reconciling", message: "The bastion is being made." };
    case "ready":
      return { status: "True", reason: "SuccessfullyReconciled", message: "The bastion can be used." };
    case "deleting":
      return { status: "False", reason: "DeletionInProgress", message: "The bastion is being deleted." };
    case "failed": {
      const { message, codes = [] } = news;
      const known = codes.length === 0 ? {} : { codes: codes as ErrorCode[] };
      return { status: "False", reason: "FailedReconciling", message, ...known };
    }
  }
}
