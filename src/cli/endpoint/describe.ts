import { commandLines } from "../../api/command-lines.ts";
import { defineCommand } from "../command.ts";
import { managementOptions } from "../connection.ts";
import { renderFields } from "../display/fields.ts";
import { printObject } from "../display/output.ts";
import { formatSince } from "../display/time.ts";
import { CliError } from "../exit.ts";
import { choice, required } from "../option.ts";
import { reportEndpoints, servesInWords, type ClusterReport, type EndpointReport } from "../report/endpoints.ts";
import { clusterNamespace } from "./list.ts";

/** `perennial endpoint describe` */
export const describe = defineCommand({
  name: "describe",
  summary: "Show the endpoint of a Cluster: all candidates, which one wins and why, whether each serves and since when",
  args: { cluster: required("Name of the Cluster, or namespace/name") },
  options: { namespace: clusterNamespace, output: choice(["json", "yaml"], "Output", "o"), ...managementOptions },
  async run({ args, options, context }) {
    const { client, namespace: current } = await context.management(options);
    const [name = "", given = options.namespace] = args.cluster.split("/").reverse();
    const found = (await reportEndpoints(client, given)).filter(({ cluster }) => cluster === name);
    const report = chooseReport(found, { name, given, current });
    const { out } = context.terminal;
    if (options.output) printObject(out, report, options.output);
    else out.write(`${linesOf(report, context.now(), out.width).join("\n")}\n`);
  },
});

/** The Cluster that is meant: in the namespace that is named, else in the kubeconfig's, else the only one of that name anywhere. */
function chooseReport(
  found: readonly ClusterReport[],
  o: { readonly name: string; readonly given: string | undefined; readonly current: string | undefined },
): ClusterReport {
  const [only, ...others] = found;
  const chosen = others.length === 0 ? only : found.find(({ namespace }) => namespace === o.current);
  if (chosen !== undefined) return chosen;
  if (only === undefined)
    throw new CliError(
      "notFound",
      `no Cluster ${o.name}${o.given === undefined ? "" : ` in namespace ${o.given}`} has an endpoint or a ClusterEndpoint: see '${commandLines.listEndpoints()}'`,
    );
  const namespaces = found.map(({ namespace }) => namespace).join(", ");
  throw new CliError("usage", `say which Cluster "${o.name}" you mean: it exists in ${namespaces}; add -n NAMESPACE`);
}

function linesOf({ namespace, cluster, endpoint, candidates }: ClusterReport, now: number, width: number | undefined) {
  const winner = candidates.find(({ wins }) => wins);
  const head = {
    Cluster: `${namespace}/${cluster}`,
    Endpoint: endpoint ?? "none yet",
    "Comes from": winner === undefined ? "no ClusterEndpoint" : `ClusterEndpoint ${winner.name}`,
  };
  return [
    ...renderFields(head, width),
    ...candidates.flatMap((one) => ["", ...renderFields(fieldsOf(one, now), width)]),
  ];
}

const fieldsOf = (candidate: EndpointReport, now: number) => {
  const { name, endpoint, rank, wins, why, reason, since } = candidate;
  return {
    Candidate: `ClusterEndpoint ${name}, ${rank}`,
    Endpoint: endpoint,
    Wins: `${wins ? "yes" : "no"}: ${why}`,
    Serves: `${servesInWords(candidate)}: ${reason}${since === undefined ? "" : `, ${formatSince(since, now)}`}`,
  };
};
