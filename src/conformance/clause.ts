import type { ExtensionKind } from "../api/extensions/kinds.ts";
import type { Chapter, ChapterName } from "./chapter.ts";
import type { Section } from "./sections.ts";

/** One sentence of Gardener's extension contract, and how it is judged by what was seen. */
export interface Clause {
  /** `<chapter>.<word>`: stable, for scripts. */
  readonly id: string;
  readonly section: Section;
  /** What holds of a controller that keeps the contract. */
  readonly sentence: string;
  /** The part of the trial by which it is judged. */
  readonly chapter: ChapterName;
  /** The kinds that it is about; all unless told otherwise. */
  readonly kinds?: readonly ExtensionKind[];
  /** Pure: the same chapter is judged in the same way. */
  judge(chapter: Chapter): Judgement;
}

/** What was found, and what shows it; of what is not judged, why not. */
export interface Judgement {
  readonly verdict: "passed" | "failed" | "not judged";
  readonly evidence: string;
}

/** The clause holds, as the evidence shows. */
export const passed = (evidence: string): Judgement => ({ verdict: "passed", evidence });

/** The clause is broken, as the evidence shows. */
export const failed = (evidence: string): Judgement => ({ verdict: "failed", evidence });

/** Nothing was seen by which the clause could be judged. */
export const notJudged = (because: string): Judgement => ({ verdict: "not judged", evidence: because });

/** Passed with one evidence where it holds, else failed with the other. */
export const judgeBy = (holds: boolean, shown: string, otherwise: string = shown): Judgement =>
  holds ? passed(shown) : failed(otherwise);
