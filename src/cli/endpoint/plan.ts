import { Cluster, ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { planMigration } from "../../cluster-api/endpoint/migrate.ts";
import { createProviderReader } from "../../cluster-api/endpoint/provider-objects.ts";
import { renderEndpoint } from "../../cluster-api/endpoint/value.ts";
import { inWords, unlessGone, type KubeClient } from "../../kube/index.ts";
import { defineCommand } from "../command.ts";
import { managementOptions } from "../connection.ts";
import { outputOption, printList } from "../display/output.ts";
import type { Column } from "../display/table.ts";
import { wrap } from "../display/wrap.ts";
import { clusterNamespace } from "./list.ts";

/** What taking over one Cluster makes. */
interface PlannedEndpoint {
  readonly cluster: string;
  /** The object that is made; undefined where there is nothing to make, or nothing that could be. */
  readonly creates?: string;
  readonly endpoint?: string;
  readonly owner?: string;
  readonly warnings: readonly string[];
}

/** `perennial endpoint plan` */
export const plan = defineCommand({
  name: "plan",
  summary: "Show what taking over an existing management cluster makes, Cluster by Cluster, and touch nothing",
  args: {},
  options: { namespace: clusterNamespace, output: outputOption, ...managementOptions },
  async run({ options, context }) {
    const { client } = await context.management(options);
    const rows = await planAll(client, options.namespace);
    const { out, err } = context.terminal;
    if (rows.length === 0 && options.output !== "json" && options.output !== "yaml")
      return void err.write("Nothing to take over: every Cluster with an endpoint has a ClusterEndpoint.\n");
    printList(out, rows, { format: options.output, columns, name: ({ cluster }) => cluster });
    if (options.output === undefined) out.write(renderWarnings(rows, out.width));
  },
});

/** Below the table, where a sentence has room. */
const renderWarnings = (rows: readonly PlannedEndpoint[], width: number | undefined): string =>
  rows
    .filter(({ warnings }) => warnings.length > 0)
    .map(({ cluster, warnings }) => `\n${[cluster, ...warnings.map((one) => `  ${wrap(one, width, 2)}`)].join("\n")}\n`)
    .join("");

/** Also of a cluster that does not serve ClusterEndpoints yet. */
async function planAll(client: KubeClient, namespace: string | undefined): Promise<PlannedEndpoint[]> {
  const selection = namespace === undefined ? {} : { namespace };
  const endpoints = (await unlessGone(client.list(ClusterEndpoint, selection))) ?? [];
  const taken = new Set(endpoints.map(({ metadata, spec }) => `${metadata.namespace}/${spec.cluster}`));
  const providers = createProviderReader(client);
  const planned: PlannedEndpoint[] = [];
  for (const cluster of await client.list(Cluster, selection)) {
    const name = `${cluster.metadata.namespace}/${cluster.metadata.name}`;
    const migration = taken.has(name) ? undefined : planMigration(cluster, await providers.read(cluster));
    if (migration !== undefined)
      planned.push({ cluster: name, ...describe(migration.endpoint), warnings: migration.warnings });
  }
  return planned;
}

function describe(endpoint: ClusterEndpoint | undefined): Partial<PlannedEndpoint> {
  const [owner] = endpoint?.metadata.ownerReferences ?? [];
  if (endpoint === undefined || owner === undefined) return {};
  const { kind, name } = owner;
  return {
    creates: `ClusterEndpoint ${endpoint.metadata.name}`,
    endpoint: renderEndpoint(endpoint.spec),
    owner: inWords({ ...owner, kind, name }),
  };
}

const columns: readonly Column<PlannedEndpoint>[] = [
  { title: "CLUSTER", value: ({ cluster }) => cluster },
  { title: "CREATES", value: ({ creates }) => creates },
  { title: "ENDPOINT", value: ({ endpoint }) => endpoint },
  { title: "OWNER", value: ({ owner }) => owner },
  { title: "WARNING", wide: true, value: ({ warnings }) => warnings.join("; ") },
];
