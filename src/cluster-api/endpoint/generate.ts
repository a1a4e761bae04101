import { CLUSTER_NAME_LABEL, ClusterEndpoint, type Cluster } from "../../api/cluster-api/index.ts";
import { isAlreadyExists, refOf } from "../../kube/index.ts";
import { ENDPOINT_MANAGER } from "../objects/field-managers.ts";
import { isPaused } from "../objects/paused.ts";
import { isCandidate } from "./decide.ts";
import { planMigration } from "./migrate.ts";
import { completeEndpoint } from "./value.ts";
import type { EndpointWork } from "./work.ts";

/**
 * Gives a Cluster that has an endpoint and no object that stays one, and warns of each field in use that such objects replace. Says
 * whether there is one then.
 */
export async function migrate({ client, providers, events, log }: EndpointWork, seen: Cluster): Promise<boolean> {
  if (completeEndpoint(seen.spec.controlPlaneEndpoint) === undefined) return false;
  const cluster = await client.read(refOf(seen)); // with its managed fields
  if (cluster === undefined || cluster.metadata.uid !== seen.metadata.uid || isPaused(cluster)) return false;
  const { name, namespace } = cluster.metadata;
  const made = await client.list(ClusterEndpoint, { namespace, labelSelector: `${CLUSTER_NAME_LABEL}=${name}` });
  if (made.some((one) => isCandidate(one))) return true; // the watch brings it
  const migration = planMigration(cluster, await providers.read(cluster));
  if (migration === undefined) return false;
  if (migration.endpoint) await create(client, migration.endpoint);
  for (const note of migration.warnings) {
    log.warn({ cluster: `${namespace}/${name}`, note }, "deprecated field in use");
    events.record({ regarding: cluster, type: "Warning", reason: "DeprecatedEndpoint", action: "Migrate", note });
  }
  return migration.endpoint !== undefined;
}

/** Under its Cluster's name, or where another Cluster's object has that, or one that leaves, under one that says what it is. */
async function create(client: EndpointWork["client"], endpoint: ClusterEndpoint): Promise<void> {
  const { name } = endpoint.metadata;
  for (const metadata of [endpoint.metadata, { ...endpoint.metadata, name: `${name}-generated` }]) {
    try {
      return void (await client.create({ ...endpoint, metadata }, { fieldManager: ENDPOINT_MANAGER }));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const taken = await client.read(refOf({ ...endpoint, metadata }));
      if (taken?.spec.cluster === name && isCandidate(taken)) return;
    }
  }
}
