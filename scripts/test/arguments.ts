import { projects, takesRoot, usual, type Project } from "./projects.ts";

/** The projects to run, those to skip and why, and the arguments passed on to vitest. */
export interface TestPlan {
  readonly chosen: readonly Project[];
  /** Sentences. */
  readonly left: readonly string[];
  /** Run only the files that changes since this commit can affect. */
  readonly since?: string;
  /** Run the lanes in parallel, on machines with enough processors. */
  readonly parallel: boolean;
  readonly rest: readonly string[];
}

/** Reads the command line of `npm test`. */
export function planTests(argv: readonly string[]): TestPlan {
  const asked = projects.filter((project) => argv.includes(project));
  const changed = argv.find((word) => word === "--changed" || word.startsWith("--changed="));
  const own = ["--no-e2e", "--parallel", changed, ...asked];
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
    parallel: argv.includes("--parallel"),
    rest,
  };
}

function leave(all: readonly Project[], chosen: readonly Project[], why: string | undefined): string[] {
  const left = all.filter((project) => !chosen.includes(project));
  return left.length === 0 || why === undefined ? [] : [`not run: ${left.join(", ")}: ${why}`];
}
