import { projects, takesRoot, usual, type Project } from "./projects.ts";

/** What to run, what not and why, and what goes to vitest as it is. */
export interface TestPlan {
  readonly chosen: readonly Project[];
  /** Sentences. */
  readonly left: readonly string[];
  /** Run the files only that a change since this commit can reach. */
  readonly since?: string;
  /** Run lanes at the same time, where a machine has the processors for it. */
  readonly sideBySide: boolean;
  readonly rest: readonly string[];
}

/** Reads the command line of `npm test`. */
export function planTests(argv: readonly string[]): TestPlan {
  const asked = projects.filter((project) => argv.includes(project));
  const changed = argv.find((word) => word === "--changed" || word.startsWith("--changed="));
  const own = ["--no-e2e", "--side-by-side", changed, ...asked];
  const rest = argv.filter((word) => !own.includes(word));
  const some = asked.length > 0 ? asked : usual;
  const chosen = argv.includes("--no-e2e") ? some.filter((project) => !takesRoot.includes(project)) : some;
  return {
    chosen,
    left: [
      ...leave(usual, chosen, asked.length > 0 ? undefined : "--no-e2e leaves them out"),
      ...leave(projects, usual.concat(chosen), "they run when they are named"),
    ],
    ...(changed === undefined ? {} : { since: changed.split("=")[1] ?? "HEAD" }),
    sideBySide: argv.includes("--side-by-side"),
    rest,
  };
}

function leave(all: readonly Project[], chosen: readonly Project[], why: string | undefined): string[] {
  const left = all.filter((project) => !chosen.includes(project));
  return left.length === 0 || why === undefined ? [] : [`not run: ${left.join(", ")}: ${why}`];
}
