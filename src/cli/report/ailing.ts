import { commandLines } from "../../api/command-lines.ts";
import type { ProcessStatus } from "../../local/process/processes.ts";

/** How a process of the local environment is, in a word. */
export function stateOf({
  running,
  stopped,
}: Pick<ProcessStatus, "running" | "stopped">): "Running" | "Stopped" | "Dead" {
  if (!running) return "Dead";
  return stopped ? "Stopped" : "Running";
}

/** Sentences that name the processes of the local environment that do nothing, with the remedy; none where all act. */
export function describeAiling(processes: readonly ProcessStatus[]): string[] {
  const dead = processes.filter((one) => stateOf(one) === "Dead").map(({ name }) => name);
  const stopped = processes.filter((one) => stateOf(one) === "Stopped");
  return [
    ...(dead.length > 0 ? [`Dead: ${dead.join(", ")}. What is missing is started by: ${commandLines.localUp()}`] : []),
    ...stopped.map(({ name, pid }) => `Stopped by a signal: ${name}. It is let go on by: kill -CONT ${pid}`),
  ];
}
