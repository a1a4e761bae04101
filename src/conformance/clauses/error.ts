import { errorCodes } from "../../api/error-codes.ts";
import { answersIn, lastOf, type Chapter } from "../chapter.ts";
import { failed, judgeBy, notJudged, passed, type Clause } from "../clause.ts";
import { describeObject } from "../describe.ts";
import { judgeReached, operation } from "./judgements.ts";

/** What holds of an operation that cannot be done, and after its cause is gone. */
export const errorClauses: readonly Clause[] = [
  {
    id: "error.operation",
    section: "C2.2",
    sentence: "Of an operation that failed, status.lastOperation says Error.",
    chapter: "error",
    judge: (chapter) => operation(chapter, "Create", "Error"),
  },
  {
    id: "error.described",
    section: "C2.2",
    sentence: "status.lastError says in words what failed.",
    chapter: "error",
    judge(chapter) {
      const { description = "" } = errorIn(chapter) ?? {};
      return judgeBy(description.trim() !== "", `"${description}"`, "its description is empty");
    },
  },
  {
    id: "error.codes",
    section: "C2.8",
    sentence: "The codes of an error are of Gardener's list.",
    chapter: "error",
    judge(chapter) {
      const codes = errorIn(chapter)?.codes ?? [];
      if (codes.length === 0) return notJudged("the controller gave this error no code");
      const unknown = codes.filter((code) => !known.has(code));
      return unknown.length > 0 ? failed(`${unknown.join(", ")}: unknown`) : passed(codes.join(", "));
    },
  },
  {
    id: "error.generation-seen",
    section: "C2.2",
    sentence: "Of an operation that failed, status.observedGeneration is the generation that it was tried for.",
    chapter: "error",
    judge(chapter) {
      const { object } = failureIn(chapter) ?? { object: lastOf(chapter) };
      return judgeBy(object.status?.observedGeneration === object.metadata.generation, describeObject(object));
    },
  },
  {
    id: "error.recovers",
    section: "C2.3",
    sentence: "When the cause is gone and the object asked for again, it becomes ready, and the error is gone.",
    chapter: "recovery",
    judge: judgeReached,
  },
  {
    id: "error.unfinished",
    section: "C2.7",
    sentence: "A Create that failed goes on as Create.",
    chapter: "recovery",
    judge: (chapter) => operation(chapter, "Create", "Succeeded"),
  },
];

/** The first version in which the controller says what failed. */
const failureIn = (chapter: Chapter) =>
  answersIn(chapter).find(
    ({ object: { status } }) => status?.lastOperation?.state === "Error" || status?.lastError !== undefined,
  );

/** An operation and its error may be written one after the other. */
const errorIn = (chapter: Chapter) =>
  answersIn(chapter).find(({ object }) => object.status?.lastError !== undefined)?.object.status?.lastError;

const known: ReadonlySet<string> = new Set(errorCodes);
