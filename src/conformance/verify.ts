import { chapterNames, type ChapterName } from "./chapter.ts";
import { notJudged, type Clause, type Judgement } from "./clause.ts";
import { clauses } from "./clauses/index.ts";
import { timeline } from "./describe.ts";
import { scenarios, type Scenario } from "./scenarios.ts";
import { findSharedCause, type Halts, type SharedCause } from "./shared-cause.ts";
import { setStage, Standstill, type Remains, type Story, type TrialDeps } from "./stage.ts";

/** What a trial found. */
export interface Report {
  readonly kind: string;
  readonly type: string;
  readonly clauses: readonly JudgedClause[];
  /** What was seen, chapter by chapter: a line for each version of the object. */
  readonly timelines: Readonly<Partial<Record<ChapterName, readonly string[]>>>;
  /** Objects whose deletion has not ended; they are left as they are. */
  readonly left: readonly string[];
  /** Commands of kubectl that clear away what is left. */
  readonly clearing: readonly string[];
  /** What keeps several clauses from being judged. */
  readonly cause?: SharedCause;
}

/** A clause, and what was found of it. */
export type JudgedClause = Pick<Clause, "id" | "section" | "sentence" | "chapter"> & Judgement;

/**
 * Judges a controller, in whatever language it is written, by Gardener's extension contract: plays the part of its caller
 * with objects of Shoots that do not exist, and listens to what it writes. It acts in a cluster where the controller runs,
 * and takes away what it has written. Throws when the cluster cannot be asked.
 */
export async function verifyExtension(deps: TrialDeps): Promise<Report> {
  const story: Story = new Map();
  const remains: Remains = { left: [], clearing: [] };
  const halts: Halts = new Map();
  const play = async (scenario: Scenario) => {
    const halt = await playScenario(deps, scenario, story, remains);
    if (halt !== undefined) halts.set(scenario, halt);
  };
  const { beside, alone } = deps.pace.oneByOne === true ? { beside: [], alone: inOrder } : scenarios;
  const played = await Promise.allSettled(beside.map(play));
  for (const result of played) if (result.status === "rejected") throw result.reason;
  for (const scenario of alone) await play(scenario);

  const { kind, type } = deps.subject;
  const judged = clauses
    .filter(({ kinds }) => kinds?.includes(kind) ?? true)
    .map((clause) => ({ ...nameOf(clause), ...judge(clause, story) }));
  const cause = findSharedCause(inOrder, halts, judged);
  return { kind, type, clauses: judged, timelines: timelinesOf(story), ...remains, ...(cause && { cause }) };
}

const inOrder: readonly Scenario[] = [...scenarios.beside, ...scenarios.alone];

/** Plays it as far as it can be played, and answers why no further; what does not go afterwards is noted as left. */
async function playScenario(
  deps: TrialDeps,
  scenario: Scenario,
  story: Story,
  remains: Remains,
): Promise<Standstill | undefined> {
  const explain = (reason: string) => {
    for (const chapter of scenario.chapters) if (!story.has(chapter)) story.set(chapter, reason);
  };
  const obstacle = deps.signal.aborted ? "the trial was interrupted" : scenario.obstacle?.(deps.subject);
  if (obstacle !== undefined) {
    explain(obstacle);
    return undefined;
  }
  const stage = await setStage(deps, story);
  try {
    await scenario.play(stage);
    return undefined;
  } catch (error) {
    if (!(error instanceof Standstill)) throw error;
    explain(error.message);
    return error;
  } finally {
    await stage.clear(remains);
  }
}

function judge(clause: Clause, story: Story): Judgement {
  const chapter = story.get(clause.chapter) ?? "no scenario has this chapter";
  return typeof chapter === "string" ? notJudged(chapter) : clause.judge(chapter);
}

function timelinesOf(story: Story): Report["timelines"] {
  const seen = chapterNames.flatMap((name) => {
    const chapter = story.get(name);
    return chapter === undefined || typeof chapter === "string" ? [] : [[name, timeline(chapter.versions)] as const];
  });
  return Object.fromEntries(seen);
}

const nameOf = ({ id, section, sentence, chapter }: Clause) => ({ id, section, sentence, chapter });
