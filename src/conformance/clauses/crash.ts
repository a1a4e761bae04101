import type { Clause } from "../clause.ts";
import { judgeReached } from "./judgements.ts";

/** What holds of a controller that is killed in the middle, and started again. */
export const crashClauses: readonly Clause[] = [
  {
    id: "crash.resumed",
    section: "C2.7",
    sentence: "What a killed controller left unfinished becomes ready after it has started again, without being asked.",
    chapter: "crash",
    judge: judgeReached,
  },
  {
    id: "crash.deleted",
    section: "C2.7",
    sentence: "A deletion that a killed controller left unfinished is finished after it has started again.",
    chapter: "crashedDeletion",
    judge: judgeReached,
  },
];
