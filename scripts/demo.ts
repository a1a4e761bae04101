/**
 * The demo: brings the local environment up, creates a Shoot in it, and runs a pod in that Shoot. Every part finds what is
 * there already, so that it can be interrupted and run again at any point.
 */
import { createContext } from "../src/cli/connection.ts";
import { chooseEnvironment } from "../src/cli/local/options.ts";
import { bringUp } from "../src/cli/local/up.ts";
import { exitCodes, explainError, type Exit } from "../src/cli/exit.ts";
import { formatDuration } from "../src/cli/display/time.ts";
import { paint } from "../src/cli/display/style.ts";
import { processTerminal } from "../src/cli/display/terminal.ts";
import type { Variables } from "../src/cli/context.ts";
import { ensureBinaries } from "../src/local/binary/binaries.ts";
import type { UpResult } from "../src/local/environment/up.ts";
import { createLogger } from "../src/log.ts";
import { createShoot } from "./demo/shoot.ts";
import { runPod } from "./demo/workload.ts";

/** A part of the demo: what it is called, and how it ended. */
type Part = readonly [title: string, run: () => Promise<Exit>];

/** How long a part took, in ms. */
interface Time {
  readonly title: string;
  readonly elapsed: number;
}

const terminal = processTerminal();
const interruption = new AbortController();
process.on("SIGINT", () => {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
  interruption.abort();
});

process.exitCode = exitCodes[await demo()];

async function demo(): Promise<Exit> {
  const { signal } = interruption;
  const times: Time[] = [];
  const began = performance.now();
  try {
    title("1. The local environment");
    const { context } = createContext({ terminal, variables: process.env, signal });
    const environment = await bringUp(context, chooseEnvironment(undefined, process.env));
    if (!environment) return "interrupted";
    times.push({ title: "Environment", elapsed: performance.now() - began });
    const exit = await useEnvironment(environment, times);
    if (exit !== "done") return tellHowToGoOn(exit);
    await conclude(environment, [...times, { title: "Together", elapsed: performance.now() - began }]);
    return "done";
  } catch (error) {
    if (signal.aborted) return tellHowToGoOn("interrupted");
    const { exit, sentence } = explainError(error);
    terminal.err.write(`${paint(terminal.err, "bad", "error:")} ${sentence}\n`);
    return tellHowToGoOn(exit);
  }
}

/** The parts that need the environment, one after the other; the first that does not come to its end ends the demo. */
async function useEnvironment(environment: UpResult, times: Time[]): Promise<Exit> {
  const { context, close } = createContext({
    terminal,
    variables: variablesOf(environment),
    signal: interruption.signal,
  });
  const parts: Part[] = [
    ["Shoot", () => createShoot(context, environment)],
    ["Pod in the Shoot", () => runPod(context, environment)],
  ];
  try {
    for (const [index, [name, run]] of parts.entries()) {
      title(`${index + 2}. ${name}`);
      const before = performance.now();
      const exit = await run();
      if (exit !== "done") return exit;
      times.push({ title: name, elapsed: performance.now() - before });
    }
    return "done";
  } finally {
    await close();
  }
}

/** What every later command works with: this environment, whatever else the shell names. */
function variablesOf({ name, stateDir, clusters }: UpResult): Variables {
  const garden = clusters.find((cluster) => cluster.name === "garden");
  const others = Object.entries(process.env).filter(([variable]) => !variable.startsWith("PERENNIAL_TEMPORAL_"));
  return {
    ...Object.fromEntries(others),
    PERENNIAL_ENVIRONMENT: name,
    PERENNIAL_STATE_DIR: stateDir,
    PERENNIAL_GARDEN_KUBECONFIG: garden?.kubeconfig,
  };
}

async function conclude(environment: UpResult, times: readonly Time[]): Promise<void> {
  const { kubectl } = await ensureBinaries(["kubectl"], { log: createLogger({ name: "demo", level: "silent" }) });
  title("Done");
  const slow = environment.phases.filter(({ elapsed }) => elapsed >= 1_000);
  const phases = slow.map(({ phase, elapsed }) => `${phase} ${formatDuration(elapsed)}`).join(", ");
  const lines = times.map(({ title, elapsed }) => `${title.padEnd(18)}${formatDuration(elapsed)}`);
  if (phases) lines[0] += ` (${phases})`;
  lines.push("", "Three things to try next:", ...nextThings(environment, kubectl));
  terminal.out.write(`${lines.join("\n")}\n`);
}

function nextThings({ name, stateDir, clusters }: UpResult, kubectl: string): string[] {
  const perennial = name === "local" ? "bin/perennial" : `PERENNIAL_ENVIRONMENT=${name} bin/perennial`;
  const garden = clusters.find((cluster) => cluster.name === "garden")?.kubeconfig ?? "";
  const twoMachines =
    '{"op":"replace","path":"/spec/provider/workers/0/maximum","value":2},{"op":"replace","path":"/spec/provider/workers/0/minimum","value":2}';
  return [
    "- Read every step of what you have just seen, and what a deletion would do:",
    `    ${perennial} flow show garden-dev/local`,
    `    ${perennial} flow plan garden-dev/local --operation delete`,
    "- Give the Shoot a second machine, and follow it; then look at its nodes:",
    `    ${kubectl} --kubeconfig ${garden} -n garden-dev patch shoot local --type json -p '[${twoMachines}]'`,
    `    ${perennial} shoot watch garden-dev/local`,
    `    ${kubectl} --kubeconfig ${stateDir}/shoot-local.yaml get nodes`,
    "- Delete it, and watch everything go in order:",
    `    ${perennial} shoot delete garden-dev/local --watch`,
    "",
    `Afterwards, ${perennial} local down leaves nothing behind.`,
  ];
}

function title(text: string): void {
  terminal.out.write(`\n${paint(terminal.out, "strong", text)}\n`);
}

function tellHowToGoOn(exit: Exit): Exit {
  terminal.err.write("The demo stopped; what is there is kept. Run it again to go on from here: npm run demo\n");
  return exit;
}
