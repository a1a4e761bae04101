import type { Clause, Judgement } from "./clause.ts";
import type { Scenario } from "./scenarios.ts";
import type { Standstill } from "./stage.ts";

/** What keeps several clauses from being judged, because it stood in the way of every object alike. */
export interface SharedCause {
  /** In the words that were seen of the first object. */
  readonly obstacle: string;
  /** The ids of the clauses. */
  readonly clauses: readonly string[];
}

/** Why scenarios ended early. */
export type Halts = Map<Scenario, Pick<Standstill, "obstacle" | "likeness">>;

type Judged = Pick<Clause, "id" | "chapter"> & Pick<Judgement, "verdict">;

/** The cause of the first scenario that stood still, where it keeps more than one clause from being judged. */
export function findSharedCause(
  scenarios: readonly Scenario[],
  halts: Halts,
  judged: readonly Judged[],
): SharedCause | undefined {
  const first = scenarios.map((scenario) => halts.get(scenario)).find((halt) => halt?.obstacle !== undefined);
  if (first?.obstacle === undefined) return undefined;
  const alike = scenarios.filter((scenario) => halts.get(scenario)?.likeness === first.likeness);
  const chapters = new Set(alike.flatMap((scenario) => scenario.chapters));
  const clauses = judged.filter(({ chapter, verdict }) => verdict === "not judged" && chapters.has(chapter));
  return clauses.length < 2 ? undefined : { obstacle: first.obstacle, clauses: clauses.map(({ id }) => id) };
}
