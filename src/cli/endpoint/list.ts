import { defineCommand } from "../command.ts";
import { managementOptions } from "../connection.ts";
import { outputOption, printList } from "../display/output.ts";
import type { Column } from "../display/table.ts";
import { formatAge } from "../display/time.ts";
import { text } from "../option.ts";
import { reportEndpoints, servesInWords, type EndpointReport } from "../report/endpoints.ts";

/** The option that says where the Clusters are. */
export const clusterNamespace = text("namespace", "Namespace of the Clusters [all]", "n");

/** `perennial endpoint list` */
export const list = defineCommand({
  name: "list",
  summary: "List all candidates for the endpoints of Clusters: which one wins, whose it is, and whether it serves",
  args: {},
  options: { namespace: clusterNamespace, output: outputOption, ...managementOptions },
  async run({ options, context }) {
    const { client } = await context.management(options);
    const rows = (await reportEndpoints(client, options.namespace)).flatMap(({ candidates }) => candidates);
    const { out, err } = context.terminal;
    if (rows.length === 0 && options.output !== "json" && options.output !== "yaml")
      return void err.write("No ClusterEndpoints found.\n");
    printList(out, rows, {
      format: options.output,
      columns: columnsAt(context.now()),
      name: ({ name }) => `clusterendpoint.cluster.x-k8s.io/${name}`,
    });
  },
});

const columnsAt = (now: number): readonly Column<EndpointReport>[] => [
  { title: "NAMESPACE", rank: 3, value: ({ namespace }) => namespace },
  { title: "CLUSTER", value: ({ cluster }) => cluster },
  { title: "NAME", value: ({ name }) => name },
  { title: "ENDPOINT", value: ({ endpoint }) => endpoint },
  { title: "WINS", value: ({ wins }) => (wins ? "yes" : "no") },
  { title: "SERVES", value: servesInWords },
  { title: "SINCE", rank: 2, value: ({ since }) => (since === undefined ? undefined : formatAge(since, now)) },
  { title: "OBJECT", rank: 1, value: ({ rank }) => rank },
  { title: "TYPE", wide: true, value: ({ type }) => type },
  { title: "WHY", wide: true, value: ({ why }) => why },
];
