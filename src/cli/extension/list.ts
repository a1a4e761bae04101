import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { outputOption, printList } from "../display/output.ts";
import type { Column } from "../display/table.ts";
import { reportExtensions, type ExtensionReport } from "../report/extensions.ts";

/** `perennial extension list` */
export const list = defineCommand({
  name: "list",
  summary: "List registered extensions: where they are installed, and how many Shoots need them",
  args: {},
  options: { output: outputOption, ...clusterOptions },
  async run({ options, context }) {
    const { client } = await context.garden(options);
    const reports = await reportExtensions(client, context.now());
    const { out, err } = context.terminal;
    if (reports.length === 0 && options.output !== "json" && options.output !== "yaml")
      return void err.write("No extensions are registered.\n");
    printList(out, reports, { format: options.output, columns, name: ({ name }) => name });
  },
});

const columns: readonly Column<ExtensionReport>[] = [
  { title: "NAME", value: ({ name }) => name },
  {
    title: "READY",
    value: ({ installations }) => `${installations.filter(({ ready }) => ready).length}/${installations.length}`,
  },
  { title: "SEEDS", rank: 2, value: ({ installations }) => installations.map(({ seed }) => seed).join(", ") },
  { title: "SHOOTS", rank: 1, value: ({ shoots }) => String(shoots.length) },
  { title: "PROBLEM", rank: 3, value: problemOf },
  { title: "RESOURCES", wide: true, value: ({ resources }) => resources.join(", ") },
];

function problemOf({ problems, installations }: ExtensionReport): string | undefined {
  const ailing = installations.find(({ ready }) => !ready);
  return problems[0] ?? (ailing && `${ailing.seed}: ${ailing.reason}`);
}
