import type { Clause } from "../clause.ts";
import { judgeReached, operation } from "./judgements.ts";

/** What holds of an object that is being deleted. */
export const deleteClauses: readonly Clause[] = [
  {
    id: "delete.gone",
    section: "C2.7",
    sentence: "An object that is being deleted goes when what it stands for is gone.",
    chapter: "delete",
    judge: judgeReached,
  },
  {
    id: "delete.reported",
    section: "C2.2",
    sentence: "While it is being deleted, status.lastOperation says Delete, Processing.",
    chapter: "delete",
    judge: (chapter) => operation(chapter, "Delete", "Processing"),
  },
  {
    id: "force-deletion.gone",
    section: "C2.7",
    sentence: "An object whose Shoot is deleted by force goes, although what it needs is not there any more.",
    chapter: "forceDeletion",
    judge: judgeReached,
  },
];
