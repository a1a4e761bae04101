import { answersIn, lastOf, type Chapter } from "../chapter.ts";
import { failed, judgeBy, notJudged, passed, type Clause, type Judgement } from "../clause.ts";
import { describeObject, timeline } from "../describe.ts";
import { answered, hasFinalizer, judgeReached, leftAlone, notActedOn, operation, operationOf } from "./judgements.ts";

/** What holds of an object whose Shoot moves from one seed to another. */
export const moveClauses: readonly Clause[] = [
  {
    id: "migrate.ready",
    section: "C2.6",
    sentence: "An object that is annotated migrate says Migrate, Succeeded.",
    chapter: "migrate",
    judge: judgeReached,
  },
  {
    id: "migrate.answered",
    section: "C2.1",
    sentence: "The controller removes the annotation migrate.",
    chapter: "migrate",
    judge: answered,
  },
  {
    id: "migrate.answered-last",
    section: "C2.7",
    sentence: "The annotation migrate stays until the operation has succeeded and the finalizer is gone.",
    chapter: "migrate",
    judge: judgeMigrateOrder,
  },
  {
    id: "migrate.let-go",
    section: "C2.7",
    sentence: "A migrated object has no finalizer of its controller, so that its deletion touches nothing.",
    chapter: "migrate",
    judge: (chapter) => judgeBy(!hasFinalizer(lastOf(chapter)), describeObject(lastOf(chapter))),
  },
  {
    id: "migrate.state",
    section: "C2.6",
    sentence: "A migrated object still has the state that restore needs.",
    chapter: "migrate",
    judge: (chapter) => judgeState(chapter),
  },
  {
    id: "migrated.left-alone",
    section: "C2.7",
    sentence: "A migrated object that is annotated reconcile is not acted on.",
    chapter: "migrated",
    judge: notActedOn,
  },
  {
    id: "wait-for-state.left-alone",
    section: "C2.6",
    sentence: "An object that is annotated wait-for-state is left alone.",
    chapter: "waitForState",
    judge: leftAlone,
  },
  {
    id: "wait-for-state.written",
    section: "C2.6",
    sentence: "An object that is annotated wait-for-state is left alone when its state is written, too.",
    chapter: "stateWritten",
    judge: leftAlone,
  },
  {
    id: "restore.ready",
    section: "C2.6",
    sentence: "An object that is annotated restore becomes ready.",
    chapter: "restore",
    judge: judgeReached,
  },
  {
    id: "restore.type",
    section: "C2.2",
    sentence: "Of a restored object, status.lastOperation says Restore, Succeeded.",
    chapter: "restore",
    judge: (chapter) => operation(chapter, "Restore", "Succeeded"),
  },
  {
    id: "restore.answered-late",
    section: "C2.7",
    sentence: "The annotation restore stays until the controller has reported that it restores.",
    chapter: "restore",
    judge(chapter) {
      const first = answersIn(chapter).find(({ object }) => operationOf(object) === undefined);
      if (first === undefined) return failed("the annotation is still there");
      return judgeBy(first.object.status?.lastOperation?.type === "Restore", describeObject(first.object));
    },
  },
  {
    id: "restore.finalizer",
    section: "C2.7",
    sentence: "A restored object has the controller's finalizer before the annotation restore is gone.",
    chapter: "restore",
    judge(chapter) {
      const first = answersIn(chapter).find(({ object }) => operationOf(object) === undefined);
      const object = first?.object ?? lastOf(chapter);
      return judgeBy(hasFinalizer(object), describeObject(object));
    },
  },
  {
    id: "restore.state",
    section: "C2.6",
    sentence: "A restored object has a state again.",
    chapter: "restore",
    judge: (chapter) => judgeState(chapter),
  },
  {
    id: "restore.deletable",
    section: "C2.7",
    sentence: "A restored object goes when it is deleted.",
    chapter: "deleteRestored",
    judge: judgeReached,
  },
];

function judgeMigrateOrder(chapter: Chapter): Judgement {
  const first = answersIn(chapter).find(({ object }) => operationOf(object) === undefined);
  if (first === undefined) return failed("the annotation is still there");
  const { type, state } = first.object.status?.lastOperation ?? {};
  const done = type === "Migrate" && state === "Succeeded" && !hasFinalizer(first.object);
  return judgeBy(done, timeline([first]).join());
}

function judgeState(chapter: Chapter): Judgement {
  if (chapter.asked.status?.state === undefined) return notJudged("the controller keeps no state");
  const { state } = lastOf(chapter).status ?? {};
  return state === undefined ? failed(`the state went; ${describeObject(lastOf(chapter))}`) : passed(shorten(state));
}

/** A state may hold secrets: only its fields are named. */
function shorten(state: unknown): string {
  const fields = typeof state === "object" && state !== null ? Object.keys(state) : [];
  return `state with ${fields.length > 0 ? fields.join(", ") : "no fields"}`;
}
