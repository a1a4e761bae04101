import { commandLines } from "../../api/command-lines.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { renderFields } from "../display/fields.ts";
import { printObject } from "../display/output.ts";
import { paint } from "../display/style.ts";
import type { Output } from "../display/terminal.ts";
import { formatSince } from "../display/time.ts";
import { wrap } from "../display/wrap.ts";
import { CliError } from "../exit.ts";
import { choice, required } from "../option.ts";
import { askInstallationFlows, type InstallationFlows } from "../report/installation-flows.ts";
import { reportExtensions, type ExtensionReport } from "../report/extensions.ts";
import type { InstallationReport } from "../report/installation.ts";
import { renderWaitingStep } from "../report/waiting-step.ts";

/** `perennial extension describe` */
export const describe = defineCommand({
  name: "describe",
  summary:
    "Show an extension: what it is for, where it is installed, which Shoots need it, what is wrong, and which step waits",
  args: { extension: required("Name of the ControllerRegistration") },
  options: { output: choice(["json", "yaml"], "Output", "o"), ...clusterOptions },
  async run({ args, options, context }) {
    const { client } = await context.garden(options);
    const report = (await reportExtensions(client, context.now())).find(({ name }) => name === args.extension);
    if (report === undefined)
      throw new CliError(
        "notFound",
        `there is no ControllerRegistration ${args.extension}: see '${commandLines.listExtensions()}'`,
      );
    const flows = await askInstallationFlows(report.installations, () => context.installations(options));
    const { out } = context.terminal;
    if (options.output) return printObject(out, { ...report, ...flows }, options.output);
    const lines = [...linesOf(report, context.now(), out.width), ...flowLines(out, flows, context.now())];
    out.write(`${lines.join("\n")}\n`);
    return undefined;
  },
});

function linesOf(report: ExtensionReport, now: number, width: number | undefined): string[] {
  const { installations, shoots } = report;
  return renderFields(
    {
      Name: report.name,
      Resources: report.resources.join("\n"),
      "Deployed by": report.deployedBy,
      Policy: report.policy,
      Problems: report.problems.join("\n"),
      Installed: installations.length === 0 ? "on no Seed" : installations.map((one) => lineOf(one, now)).join("\n"),
      "Needed by": shoots.length === 0 ? "no Shoot" : shoots.join("\n"),
    },
    width,
  );
}

const lineOf = (report: InstallationReport, now: number): string =>
  `on ${report.seed} (${report.name}): ${stateOf(report, now)}`;

function stateOf({ ready, byOthers, outdated, reason, since }: InstallationReport, now: number): string {
  if (byOthers === true) return "installed by others, who have not said how it is";
  if (ready) return outdated === true ? "ready; what is asked for by now is not installed yet" : "ready";
  return `${reason}${since === undefined ? "" : `, ${formatSince(since, now)}`}`;
}

function flowLines(out: Output, { held, unanswered }: InstallationFlows, now: number): string[] {
  const steps = held.flatMap(({ installation, seed, blocking }) => {
    const subject = `Installation ${installation} on ${seed}`;
    const retry = commandLines.retryInstallation(installation, blocking.step);
    const show = commandLines.showFlow(`installation/${installation}`);
    return ["", ...renderWaitingStep(out, { subject, blocking, retry, show }, now)];
  });
  if (unanswered === undefined) return steps;
  return [...steps, "", paint(out, "attention", wrap(`What the flows do is not known: ${unanswered}`, out.width))];
}
