import { lastOf, type Chapter } from "../chapter.ts";
import { judgeBy, notJudged, passed, type Clause } from "../clause.ts";
import { describeObject } from "../describe.ts";
import { judgeReached, leftAlone, leftForLater, operation } from "./judgements.ts";

/** What holds when an object that is well is asked for again, changes, or is not meant. */
export const againClauses: readonly Clause[] = [
  {
    id: "retrigger.ready",
    section: "C2.3",
    sentence: "Of two requests in quick succession, the later one is answered.",
    chapter: "retrigger",
    judge: judgeReached,
  },
  {
    id: "retrigger.type",
    section: "C2.7",
    sentence: "An object that was created and is asked for again is reconciled: the type is Reconcile.",
    chapter: "retrigger",
    judge: (chapter) => operation(chapter, "Reconcile", "Succeeded"),
  },
  {
    id: "retrigger.kept",
    section: "C2.2",
    sentence: "What status.state and status.providerStatus said is not lost by a reconcile.",
    chapter: "retrigger",
    judge: judgeKept,
  },
  {
    id: "untriggered.left-alone",
    section: "C2.7",
    sentence: "A new generation without a request is not acted on.",
    chapter: "untriggered",
    judge: leftForLater,
  },
  {
    id: "update.ready",
    section: "C2.3",
    sentence: "When a changed spec is annotated reconcile, the object becomes ready in its new generation.",
    chapter: "update",
    judge: judgeReached,
  },
  {
    id: "failed-shoot.left-alone",
    section: "C2.7",
    sentence: "While the Shoot of the object's Cluster has failed for good, the object is left alone.",
    chapter: "failedShoot",
    judge: leftAlone,
  },
  {
    id: "failed-shoot.resumed",
    section: "C2.7",
    sentence: "When the Shoot is taken up again and the object asked for anew, it becomes ready.",
    chapter: "resumedShoot",
    judge: judgeReached,
  },
  {
    id: "foreign-type.left-alone",
    section: "C2.7",
    sentence: "An object of another type is left alone.",
    chapter: "foreignType",
    judge: leftAlone,
  },
];

function judgeKept(chapter: Chapter) {
  const before = chapter.asked.status;
  const after = lastOf(chapter).status;
  const had = (["state", "providerStatus"] as const).filter((field) => before?.[field] !== undefined);
  if (had.length === 0) return notJudged("the controller reports neither state nor providerStatus");
  const lost = had.filter((field) => after?.[field] === undefined);
  return lost.length === 0
    ? passed(`${had.join(" and ")} are still there`)
    : judgeBy(false, `${lost.join(" and ")} went; ${describeObject(lastOf(chapter))}`);
}
