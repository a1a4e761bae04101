import { renderFields } from "../../cli/display/fields.ts";
import { printObject } from "../../cli/display/output.ts";
import { formatAgo, formatDuration } from "../../cli/display/time.ts";
import { choice } from "../../cli/option.ts";
import { defineCommand } from "../context.ts";
import { readMachine } from "./read.ts";
import { nextSteps, type Answer, type MachineReport } from "./report.ts";

/** `gardenadm status` */
export const status = defineCommand({
  name: "status",
  summary: "Say how this machine and its cluster are, also while nothing answers, and what to do next",
  description: "It changes nothing. Exit code 0 says that there is nothing to do.",
  examples: ["gardenadm status", "gardenadm status -o json"],
  args: {},
  options: { output: choice(["json", "yaml"], "Output", "o") },
  async run({ options, context }) {
    const report = await readMachine("/");
    const next = nextSteps(report, context.now());
    const { out } = context.terminal;
    if (options.output) printObject(out, { ...report, next }, options.output);
    else out.write(`${render(report, next, context.now(), out.width).join("\n")}\n`);
    return next.length === 0 ? "done" : "failed";
  },
});

function render(report: MachineReport, next: readonly string[], now: number, width: number | undefined): string[] {
  const [first] = report.certificates;
  const { lastRun } = report;
  return renderFields(
    {
      Machine: report.host,
      Kubelet: inWords(report.kubelet),
      "etcd-main": inWords(report.etcdMain),
      "etcd-events": inWords(report.etcdEvents),
      "API server": inWords(report.apiServer),
      Nodes: report.nodes.map(({ name, ready }) => `${name} ${ready ? "Ready" : "NotReady"}`).join(", "),
      Certificates:
        first &&
        `${report.certificates.length}, the first ends in ${formatDuration(Date.parse(first.expiresAt) - now)}: ${first.file}`,
      "Last run":
        lastRun &&
        `${lastRun.flow}: ${lastRun.open.length === 0 ? "done" : "not done"}, ${formatAgo(lastRun.endedAt, now)}`,
      Next: next.join("\n") || "nothing",
    },
    width,
  );
}

const inWords = ({ ready, reason }: Answer): string => (ready ? "ready" : `not ready: ${reason ?? "unknown"}`);
