import type { ErrorCode, ShootBastion } from "../../api/index.ts";
import { setCondition, type ConditionUpdate } from "../../kube/index.ts";
import type { BastionNews } from "./activities.ts";

/** The condition by which users and their tools see that a bastion can be used (Gardener: `BastionReady`). */
export const BASTION_READY = "BastionReady";

/** The status that says the news; what other writers have in it stays. Pure. */
export function statusWith({ status, metadata }: ShootBastion, news: BastionNews): NonNullable<ShootBastion["status"]> {
  const { ingress: _, ...rest } = status ?? {};
  const conditions = setCondition(status?.conditions, { type: BASTION_READY, ...conditionOf(news) });
  const known = { ...rest, conditions, observedGeneration: metadata.generation ?? 0 };
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
