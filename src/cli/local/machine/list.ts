import { defineCommand } from "../../command.ts";
import { printObject } from "../../display/output.ts";
import { renderTable } from "../../display/table.ts";
import { formatAge } from "../../display/time.ts";
import { choice } from "../../option.ts";
import { openMachines, setOption } from "./machines.ts";

/** `perennial local machine list` */
export const list = defineCommand({
  name: "list",
  summary: "Show the bare machines of a set, and where the host finds the files of those that are on",
  args: {},
  options: { set: setOption, output: choice(["json", "yaml"], "Output", "o") },
  async run({ options: { set, output }, context }) {
    const found = await (await openMachines(set, context)).list();
    const { out } = context.terminal;
    if (output) return printObject(out, found, output);
    const table = renderTable(
      found,
      [
        { title: "MACHINE", value: ({ name }) => name },
        { title: "STATUS", value: ({ state }) => state },
        { title: "INIT", rank: 2, value: ({ init }) => init },
        { title: "ADDRESS", value: ({ address }) => address },
        { title: "ROOT", rank: 1, value: ({ root }) => root },
        { title: "AGE", value: ({ createdAt }) => createdAt && formatAge(createdAt, context.now()) },
      ],
      out.width,
    );
    out.write(table);
  },
});
