import { commandLines } from "../../api/command-lines.ts";
import { defineCommand } from "../command.ts";
import { managementOptions } from "../connection.ts";
import { renderFields } from "../display/fields.ts";
import { printObject } from "../display/output.ts";
import { formatSince } from "../display/time.ts";
import { CliError } from "../exit.ts";
import { choice, required } from "../option.ts";
import { reportEndpoints, type ClusterReport, type EndpointReport } from "../report/endpoints.ts";
import { clusterNamespace } from "./list.ts";

/** `perennial endpoint describe` */
export const describe = defineCommand({
  name: "describe",
  summary: "Show the endpoint of a Cluster: all candidates, which one wins and why, whether each serves and since when",
  args: { cluster: required("Name of the Cluster, or namespace/name") },
  options: { namespace: clusterNamespace, output: choice(["json", "yaml"], "Output", "o"), ...managementOptions },
  async run({ args, options, context }) {
    const { client, namespace: current = "default" } = await context.management(options);
    const [name = "", given] = args.cluster.split("/").reverse();
    const namespace = given ?? options.namespace ?? current;
    const report = (await reportEndpoints(client, namespace)).find(({ cluster }) => cluster === name);
    if (report === undefined)
      throw new CliError(
        "notFound",
        `no Cluster ${name} in namespace ${namespace} has an endpoint or a ClusterEndpoint: see '${commandLines.listEndpoints()}'`,
      );
    const { out } = context.terminal;
    if (options.output) printObject(out, report, options.output);
    else out.write(`${linesOf(report, context.now(), out.width).join("\n")}\n`);
  },
});

function linesOf({ namespace, cluster, endpoint, candidates }: ClusterReport, now: number, width: number | undefined) {
  const winner = candidates.find(({ wins }) => wins);
  const head = {
    Cluster: `${namespace}/${cluster}`,
    Endpoint: endpoint ?? "none yet",
    "Comes from": winner?.name ?? "no object",
  };
  return [
    ...renderFields(head, width),
    ...candidates.flatMap((one) => ["", ...renderFields(fieldsOf(one, now), width)]),
  ];
}

const fieldsOf = ({ name, endpoint, rank, wins, why, serves, reason, since }: EndpointReport, now: number) => ({
  Candidate: name,
  Says: endpoint,
  Is: rank,
  Wins: `${wins ? "yes" : "no"}: ${why}`,
  Serves: `${serves}: ${reason}${since === undefined ? "" : `, ${formatSince(since, now)}`}`,
});
