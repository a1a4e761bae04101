import type { StepProgress } from "../../api/shoot-run.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { CliError } from "../exit.ts";
import { findShoot, namespaceOption, shootArgument, shootRef } from "../find-shoot.ts";
import { choice } from "../option.ts";
import { printObject, renderTable, type Column } from "../output.ts";
import { renderError, renderHeadline } from "../progress-lines.ts";
import { formatAge } from "../time.ts";

/** `perennial flow show` */
export const show = defineCommand({
  name: "show",
  summary: "Show where every step of a Shoot's running or last operation is",
  args: { shoot: shootArgument },
  options: { namespace: namespaceOption, output: choice(["json", "yaml"], "Output", "o"), ...clusterOptions },
  async run({ args, options, context }) {
    const garden = await context.garden(options);
    const shoot = await findShoot(garden, { shoot: args.shoot, namespace: options.namespace });
    const progress = await (await context.flows(options)).progress(shootRef(shoot));
    const subject = `${shoot.metadata.namespace}/${shoot.metadata.name}`;
    if (!progress)
      throw new CliError("notFound", `Shoot ${subject} has had no operation yet: see 'perennial flow plan ${subject}'`);
    const { out } = context.terminal;
    if (options.output) return printObject(out, progress, options.output);
    const now = context.now();
    out.write(`${renderHeadline(progress, subject, now)}\n\n`);
    out.write(
      renderTable(progress.steps, [
        { title: "STEP", value: (step) => step.name },
        { title: "STATE", value: (step) => step.state },
        { title: "SINCE", value: (step) => step.since && formatAge(step.since, now) },
        ...(progress.steps.some((step) => step.error) ? [errorColumn] : []),
      ]),
    );
    return undefined;
  },
});

const errorColumn: Column<StepProgress> = { title: "ERROR", value: renderError };
