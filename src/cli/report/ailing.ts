import { commandLines } from "../../api/command-lines.ts";
import type { ProcessStatus } from "../../local/process/processes.ts";
import type { MachineStatus } from "../../local/machine/machine.ts";
import { supervisorName } from "../../local/supervisor/supervisor.ts";

/** How a process of the local environment is, in a word. */
export function stateOf({
  running,
  stopped,
}: Pick<ProcessStatus, "running" | "stopped">): "Running" | "Stopped" | "Dead" {
  if (!running) return "Dead";
  return stopped ? "Stopped" : "Running";
}

/** A sentence that names the machines of a local environment that are down, with the remedy; none where all run. */
export function describeDown(machines: readonly MachineStatus[], environment: string): string[] {
  const down = machines.filter(({ running }) => !running).map(({ name }) => name);
  if (down.length === 0) return [];
  const up = commandLines.localUp(environment);
  return [
    `Down: ${down.join(", ")}. The supervisor and the local provider boot machines again; if they do not run: ${up}`,
  ];
}

/** Sentences that name the processes of a local environment that do nothing, with the remedy; none where all act. */
export function describeAiling(processes: readonly ProcessStatus[], environment?: string): string[] {
  const dead = processes.filter((one) => stateOf(one) === "Dead").map(({ name }) => name);
  const kept = processes.some((one) => one.name === supervisorName && stateOf(one) === "Running");
  const remedy = kept
    ? `The supervisor starts again what died, within a minute; at once: ${commandLines.localUp(environment)}`
    : `What is missing is started by: ${commandLines.localUp(environment)}`;
  const stopped = processes.filter((one) => stateOf(one) === "Stopped");
  return [
    ...(dead.length > 0 ? [`Dead: ${dead.join(", ")}. ${remedy}`] : []),
    ...stopped.map(({ name, pid }) => `Stopped by a signal: ${name}. It is let go on by: kill -CONT ${pid}`),
  ];
}
