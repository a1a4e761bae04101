import { isDeepStrictEqual } from "node:util";
import { Project, type KubeObject } from "../api/index.ts";
import { judge, type Webhook } from "./review.ts";

/** Judges Projects: what promises safety, and nothing keeps, is refused. What a Project has already stays. */
export const judgeProject: Webhook = async ({ object, oldObject }) => {
  const wanted = approvalsOf(object);
  if (wanted.length === 0 || isDeepStrictEqual(wanted, approvalsOf(oldObject))) return judge([]);
  const message = "is not supported, and nothing would ask a second person: leave it out";
  return judge([{ field: "spec.dualApprovalForDeletion", message, forbidden: true }]);
};

const approvalsOf = (object: KubeObject | undefined): readonly unknown[] =>
  (object && Project.parse(object).spec.dualApprovalForDeletion) ?? [];
