import { createProgressDisplay } from "../../src/cli/display/progress.ts";
import type { ShownFlow } from "../../src/cli/display/progress-lines.ts";
import type { BaseContext } from "../../src/cli/base-context.ts";
import { CONFIGURATION_FOLDER, giveConfiguration } from "../../src/local/bare/configuration.ts";
import { giveGardenadm } from "../../src/local/bare/gardenadm.ts";
import { createBareMachines, type BareMachines } from "../../src/local/bare/machines.ts";
import { createLogger } from "../../src/log.ts";

/** The set of machines of this demo. */
export const SET = "self-hosted";

/** The machines of the demo: three that carry the control plane, and a worker. */
export const MACHINES = ["a", "b", "c", "w"] as const;

/** The machines of the demo's set, which need not be there. */
export function openMachines({ terminal }: Pick<BaseContext, "terminal">): BareMachines {
  const log = createLogger({ name: "demo", level: "silent" });
  return createBareMachines(SET, log, (message) => terminal.err.write(`${message}\n`));
}

/**
 * Makes the machines and switches them on, with gardenadm, the images that it starts and a configuration. Machines that are there
 * are kept, and those that have all this already are given nothing.
 */
export async function makeMachines(context: BaseContext, machines: BareMachines): Promise<void> {
  const watched = watch(context);
  try {
    for (const name of MACHINES) {
      context.signal.throwIfAborted();
      watched.change(name, "running");
      await machines.create(name);
      if (!(await isProvided(machines, name))) await provide(context, machines, name);
      watched.change(name, "done");
    }
  } finally {
    watched.end();
  }
}

/** The configuration comes last. */
async function isProvided({ exec }: BareMachines, name: string): Promise<boolean> {
  return (await exec(name, ["test", "-e", CONFIGURATION_FOLDER])).code === 0;
}

async function provide({ terminal }: BaseContext, machines: BareMachines, name: string): Promise<void> {
  const log = createLogger({ name: "demo", level: "silent" });
  await giveGardenadm(machines, name, { log, tell: (message) => terminal.err.write(`${message}\n`) });
  await giveConfiguration(machines, name, { log });
}

/** Shows the machines as gardenadm shows its steps. */
function watch({ terminal, now }: BaseContext) {
  const display = createProgressDisplay(terminal.err, MACHINES.join(" "));
  const startedAt = new Date(now()).toISOString();
  const steps = new Map<string, ShownFlow["steps"][number]>(MACHINES.map((name) => [name, { name, state: "pending" }]));
  const show = () => display.show({ operation: "Make machines", startedAt, steps: [...steps.values()] }, now());
  const timer = setInterval(show, 1_000);
  return {
    change(name: string, state: "running" | "done") {
      steps.set(name, { name, state, since: new Date(now()).toISOString() });
      show();
    },
    end() {
      clearInterval(timer);
      display.end();
    },
  };
}
