import { randomUUID } from "node:crypto";
import { createProgressDisplay } from "../../cli/display/progress.ts";
import type { ShownFlow } from "../../cli/display/progress-lines.ts";
import { CliError, type Exit } from "../../cli/exit.ts";
import { flag, text } from "../../cli/option.ts";
import { planFlow } from "../../flow/plan.ts";
import { openJournal } from "../../in-process/journal.ts";
import { LockedError, withLock } from "../../in-process/lock.ts";
import { ParkedError, runInProcess, type StepChange } from "../../in-process/run.ts";
import { readConfiguration, type Configuration } from "../configuration/configuration.ts";
import { defineCommand, type GardenadmContext } from "../context.ts";
import { createStartActions } from "./actions.ts";
import { isThere } from "./cluster.ts";
import { judge } from "./fault.ts";
import { findThisMachine, type ThisMachine } from "./machine.ts";
import { placesIn } from "./places.ts";
import { preflightFaults } from "./preflight.ts";
import { startControlPlane } from "./start-control-plane.ts";

/** In ms. */
const RETRY_DURATION = 120_000;

/** `gardenadm init` */
export const init = defineCommand({
  name: "init",
  summary: "Make this machine the first node of a cluster that carries its own control plane",
  description:
    "It reads the configuration, makes the keys of the cluster, and begins etcd, API server, controller manager and scheduler as static pods. " +
    "Interrupted or killed, the same command goes on where it was; when all is done, it changes nothing.",
  examples: ["gardenadm init -d config --plan", "gardenadm init -d config"],
  args: {},
  options: {
    configDir: text("folder", "The folder with Shoot, CloudProfile, Project and what they need", "d"),
    plan: flag("Show each step and every reason why it cannot be, and change nothing"),
  },
  async run({ options, context }) {
    if (options.configDir === undefined)
      throw new CliError("usage", "no configuration: name its folder with --config-dir");
    const configuration = await readConfiguration(options.configDir);
    const machine = await findThisMachine();
    return options.plan ? await showPlan(context, machine) : await start(context, machine, configuration);
  },
});

async function showPlan({ terminal }: GardenadmContext, machine: ThisMachine): Promise<Exit> {
  const isBegun = await isThere(placesIn(machine.root).shootUid);
  const faults = await preflightFaults({ ...machine, isBegun });
  const rows = planFlow(startControlPlane, undefined).map(({ step }) => {
    const does = startControlPlane.steps.get(step)?.do.does ?? "";
    return `${step.padEnd(22)} ${does}\n`;
  });
  terminal.out.write(rows.join(""));
  if (faults.length === 0) return "done";
  terminal.err.write(faults.map((fault) => `cannot begin: ${fault}\n`).join(""));
  return "failed";
}

async function start(context: GardenadmContext, machine: ThisMachine, configuration: Configuration): Promise<Exit> {
  const places = placesIn(machine.root);
  const { name, namespace } = configuration.shoot.metadata;
  const watched = watch(context, `${namespace}/${name}`);
  try {
    await withLock(places.lock, async () => {
      const { actions, close } = createStartActions({ machine, configuration });
      try {
        await runInProcess(startControlPlane, undefined, {
          journal: await openJournal(places.journal),
          run: randomUUID(),
          carryOut: async ({ action }, scope) => await actions[action](scope),
          judge,
          retryDuration: RETRY_DURATION,
          onChange: watched.change,
          signal: context.signal,
          now: () => context.now(),
        });
      } finally {
        await close();
      }
    });
  } catch (error) {
    watched.end();
    throw inWords(error, context.signal);
  }
  watched.end();
  context.terminal.err.write(reached(configuration, machine));
  return "done";
}

function inWords(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return new CliError("interrupted", "interrupted; the same command goes on there");
  if (error instanceof LockedError) return new CliError("failed", `gardenadm ${error.message}`, { cause: error });
  if (!(error instanceof ParkedError)) return error;
  const parked = [...error.parked].map(([step, message]) => `step ${step}: ${message}`);
  return new CliError("failed", `${parked.join("; ")}; mend that, and the same command goes on there`, {
    cause: error,
  });
}

function reached({ shoot }: Configuration, { hostName }: ThisMachine): string {
  return (
    `\nThe control plane of Shoot ${shoot.metadata.namespace}/${shoot.metadata.name} runs on ${hostName}.\n` +
    "Next: export KUBECONFIG=/etc/kubernetes/admin.conf; kubectl get nodes\n" +
    "      gardenadm token create --print-join-command\n"
  );
}

/** Shows the run as it goes, with what each step waits for beside it. */
function watch({ terminal, now }: GardenadmContext, subject: string) {
  const display = createProgressDisplay(terminal.err, subject);
  const startedAt = new Date(now()).toISOString();
  const steps = new Map<string, ShownFlow["steps"][number]>(
    [...startControlPlane.steps.keys()].map((name) => [name, { name, state: "pending" }]),
  );
  const show = () => display.show({ operation: "Init", startedAt, steps: [...steps.values()] }, now());
  const timer = setInterval(show, 1_000);
  return {
    change({ step, state, message, attempt }: StepChange) {
      const since = steps.get(step)?.state === state ? steps.get(step)?.since : new Date(now()).toISOString();
      steps.set(step, {
        name: step,
        state,
        ...(since === undefined ? {} : { since }),
        ...(attempt === undefined ? {} : { attempt }),
        ...(message === undefined ? {} : { error: { message, codes: [] } }),
      });
      show();
    },
    end() {
      clearInterval(timer);
      display.end();
    },
  };
}
