import { TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import { answersIn, lastOf, type Chapter } from "../chapter.ts";
import { failed, judgeBy, passed, type Clause } from "../clause.ts";
import { describeObject, inShort } from "../describe.ts";
import { answered, hasFinalizer, judgeReached, operation, processingIn } from "./judgements.ts";

/** What holds while a new object is made true. */
export const createClauses: readonly Clause[] = [
  {
    id: "create.ready",
    section: "C2.3",
    sentence: "A new object that is annotated reconcile becomes ready.",
    chapter: "create",
    judge: judgeReached,
  },
  {
    id: "create.answered",
    section: "C2.1",
    sentence: "The controller removes the annotation reconcile.",
    chapter: "create",
    judge: answered,
  },
  {
    id: "create.request-kept",
    section: "C2.1",
    sentence: "The caller's timestamp and the object's spec stay as the caller wrote them.",
    chapter: "create",
    judge: judgeRequestKept,
  },
  {
    id: "create.processing",
    section: "C2.2",
    sentence: "While it works, status.lastOperation says Processing, and of which type: Create.",
    chapter: "create",
    judge: (chapter) => operation(chapter, "Create", "Processing"),
  },
  {
    id: "create.generation-unseen",
    section: "C2.2",
    sentence: "While it works for the first time, status.observedGeneration is not the new generation yet.",
    chapter: "create",
    judge(chapter) {
      // A try that failed has seen the generation, too: its error stays while the next one works.
      const early = processingIn(chapter).filter(
        ({ object: { status, metadata } }) =>
          status?.observedGeneration === metadata.generation && status?.lastError === undefined,
      );
      return early.length > 0 ? failed(inShort(early)) : passed(describeObject(lastOf(chapter)));
    },
  },
  {
    id: "create.succeeded",
    section: "C2.2",
    sentence: "When it is done, status.lastOperation says Create, Succeeded, 100 %, with a description.",
    chapter: "create",
    judge(chapter) {
      const { lastOperation } = lastOf(chapter).status ?? {};
      const whole = lastOperation?.progress === 100 && (lastOperation.description ?? "") !== "";
      const { type, state } = lastOperation ?? {};
      return judgeBy(whole && type === "Create" && state === "Succeeded", JSON.stringify(lastOperation ?? null));
    },
  },
  {
    id: "create.generation-seen",
    section: "C2.2",
    sentence: "When it is done, status.observedGeneration is the object's generation.",
    chapter: "create",
    judge(chapter) {
      const { metadata, status } = lastOf(chapter);
      return judgeBy(status?.observedGeneration === metadata.generation, describeObject(lastOf(chapter)));
    },
  },
  {
    id: "create.finalizer",
    section: "C2.1",
    sentence: "The object has the controller's finalizer before the controller reports that it works or is done.",
    chapter: "create",
    judge(chapter) {
      const unprotected = answersIn(chapter).filter(
        ({ object }) => object.status?.lastOperation !== undefined && !hasFinalizer(object),
      );
      return unprotected.length > 0
        ? failed(inShort(unprotected))
        : judgeBy(hasFinalizer(lastOf(chapter)), describeObject(lastOf(chapter)));
    },
  },
];

function judgeRequestKept(chapter: Chapter) {
  const last = lastOf(chapter);
  const stamp = ({ metadata }: typeof last) => metadata.annotations?.[TIMESTAMP_ANNOTATION];
  if (stamp(last) !== stamp(chapter.asked))
    return failed(`the timestamp was ${stamp(chapter.asked)} and is ${stamp(last) ?? "gone"}`);
  const { generation } = last.metadata;
  return generation === chapter.asked.metadata.generation
    ? passed(`timestamp ${stamp(last)}, generation ${generation}`)
    : failed(`the generation was ${chapter.asked.metadata.generation} and is ${generation}: the spec was changed`);
}
