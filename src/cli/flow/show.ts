import { commandLines } from "../../api/command-lines.ts";
import { ControllerInstallation } from "../../api/index.ts";
import type { FlowProgress, StepProgress } from "../../api/shoot/run.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import type { ClusterOptions, Context } from "../context.ts";
import { CliError } from "../exit.ts";
import { findShoot, namespaceOption, requireShootName, shootRef } from "../find-shoot.ts";
import { choice, required } from "../option.ts";
import { printObject } from "../display/output.ts";
import { renderTable, type Column } from "../display/table.ts";
import { renderError, renderHeadline } from "../display/progress-lines.ts";
import { formatAge } from "../display/time.ts";

/** `perennial flow show` */
export const show = defineCommand({
  name: "show",
  summary: "Show where every step of a Shoot's running or last operation is",
  description: `With installation/NAME: that of a ControllerInstallation. With the id of a workflow, as '${commandLines.listFlows()}' names it: that one, such as a clean-up's.`,
  examples: [
    "perennial flow show local",
    "perennial flow show installation/provider-one-0a1b2c3d",
    "perennial flow show shoot/garden-dev/local/5f0c/clean-up/seed-1",
  ],
  args: {
    shoot: {
      ...required("Name of the Shoot, or namespace/name, or installation/name, or the id of a workflow"),
      parse: parseSubject,
    },
  },
  options: { namespace: namespaceOption, output: choice(["json", "yaml"], "Output", "o"), ...clusterOptions },
  async run({ args, options, context }) {
    const flow = isWorkflowId(args.shoot)
      ? await findFlow(await idOf(args.shoot, options, context), options, context)
      : await findLatest(args.shoot, options, context);
    const { progress, subject } = flow;
    const { out } = context.terminal;
    if (options.output) return printObject(out, progress, options.output);
    const now = context.now();
    const build = progress.build === undefined ? "" : `, on build ${progress.build}`;
    out.write(`${renderHeadline(progress, subject, now)}${build}\n\n`);
    out.write(
      renderTable(
        progress.steps,
        [
          { title: "STEP", value: (step) => step.name },
          { title: "STATE", value: (step) => step.state },
          { title: "SINCE", rank: 1, value: (step) => step.since && formatAge(step.since, now) },
          ...(progress.steps.some((step) => step.error) ? [errorColumn] : []),
        ],
        out.width,
      ),
    );
    return undefined;
  },
});

function parseSubject(text = ""): string {
  return isWorkflowId(text) ? text : requireShootName(text, "NAME, NAMESPACE/NAME or the id of a workflow");
}

/** What is shown, and of whom. */
interface Found {
  readonly progress: FlowProgress;
  readonly subject: string;
}

type Where = ClusterOptions & { readonly namespace?: string | undefined };

async function findLatest(name: string, options: Where, context: Context): Promise<Found> {
  const shoot = await findShoot(await context.garden(options), { shoot: name, namespace: options.namespace });
  const progress = await (await context.flows(options)).progress(shootRef(shoot));
  const subject = `${shoot.metadata.namespace}/${shoot.metadata.name}`;
  if (progress) return { progress, subject };
  throw new CliError("notFound", `Shoot ${subject} has had no operation yet: see '${commandLines.planFlow(subject)}'`);
}

/** An installation's workflow is named by the installation alone, or with the uid as well. */
async function idOf(named: string, options: Where, context: Context): Promise<string> {
  const [, name] = /^installation\/([^/]+)$/.exec(named) ?? [];
  if (name === undefined) return named;
  const { client } = await context.garden(options);
  const found = await client.read(ControllerInstallation, { name });
  const { installationWorkflowId } = await import("../../workflows/contract.ts");
  if (found) return installationWorkflowId({ name, uid: found.metadata.uid ?? "" });
  throw new CliError("notFound", `there is no ControllerInstallation ${name}: see '${commandLines.listExtensions()}'`);
}

async function findFlow(id: string, options: Where, context: Context): Promise<Found> {
  const progress = await (await context.flows(options)).progressOf(id);
  if (progress) return { progress, subject: id };
  throw new CliError("notFound", `workflow ${id} does not exist: see '${commandLines.listFlows()}'`);
}

/** Those of a Shoot begin with its own id; a Shoot is named by two words at most, the first of which is a namespace of a Project. */
function isWorkflowId(text: string): boolean {
  return /^(shoot\/[^/]+\/[^/]+\/[^/]|installation\/[^/])/.test(text);
}

const errorColumn: Column<StepProgress> = { title: "ERROR", value: renderError };
