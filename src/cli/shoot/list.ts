import { Shoot } from "../../api/index.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import { text } from "../option.ts";
import { outputOption, printList } from "../display/output.ts";
import { shootColumns } from "../report/columns.ts";

/** `perennial shoot list` */
export const list = defineCommand({
  name: "list",
  summary: "List the Shoots of a namespace, or of all",
  args: {},
  options: {
    namespace: text("namespace", "Namespace of the Shoots [all]", "n"),
    output: outputOption,
    ...clusterOptions,
  },
  async run({ options, context }) {
    const { client } = await context.garden(options);
    const shoots = await client.list(Shoot, options.namespace === undefined ? {} : { namespace: options.namespace });
    const { out, err } = context.terminal;
    if (shoots.length === 0 && options.output !== "json" && options.output !== "yaml")
      return void err.write("No Shoots found.\n");
    printList(out, shoots, {
      format: options.output,
      columns: shootColumns(context.now()),
      // eslint-disable-next-line house/spelled-once -- how kubectl prints the name of a resource
      name: (shoot) => `shoot.core.gardener.cloud/${shoot.metadata.name}`,
    });
  },
});
