import { commandLines } from "../../api/command-lines.ts";
import type { KubeClient } from "../../kube/index.ts";
import { defineCommand } from "../command.ts";
import { managementOptions } from "../connection.ts";
import { renderFields } from "../display/fields.ts";
import { printObject } from "../display/output.ts";
import { formatSince } from "../display/time.ts";
import { findNamed, type NamedKind } from "../find-named.ts";
import { choice, required, text } from "../option.ts";
import { reportEndpoints, servesInWords, type ClusterReport, type EndpointReport } from "../report/endpoints.ts";

const clusterNamespace = text("namespace", "Namespace of the Cluster [the kubeconfig's]", "n");

/** `perennial endpoint describe` */
export const describe = defineCommand({
  name: "describe",
  summary: "Show the endpoint of a Cluster: all candidates, which one wins and why, whether each serves and since when",
  args: { cluster: required("Name of the Cluster, or namespace/name") },
  options: { namespace: clusterNamespace, output: choice(["json", "yaml"], "Output", "o"), ...managementOptions },
  async run({ args, options, context }) {
    const { client, namespace } = await context.management(options);
    const report = await findNamed(clustersOf(client), namespace, { text: args.cluster, ...options });
    const { out } = context.terminal;
    if (options.output) printObject(out, report, options.output);
    else out.write(`${linesOf(report, context.now(), out.width).join("\n")}\n`);
  },
});

/** Clusters that have an endpoint or a candidate for one. */
const clustersOf = (client: KubeClient): NamedKind<ClusterReport> => {
  const reportsOf = async (name: string, namespace?: string) =>
    (await reportEndpoints(client, namespace)).filter(({ cluster }) => cluster === name);
  return {
    called: "Cluster",
    absence: "has no endpoint and no ClusterEndpoint",
    listing: commandLines.listEndpoints(),
    read: async (namespace, name) => (await reportsOf(name, namespace))[0],
    namespacesOf: async (name) => (await reportsOf(name)).map(({ namespace }) => namespace),
  };
};

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
