import {
  Cluster,
  ClusterEndpoint,
  EndpointRecord,
  Machine,
  MachinePool,
  ShootCluster,
  ShootControlPlane,
  ShootMachinePool,
} from "../../../src/api/cluster-api/index.ts";
import { CredentialsBinding, DNSRecord, DomainReservation, Shoot, type KubeObject } from "../../../src/api/index.ts";
import { SURFACED_LABEL } from "../../../src/api/labels.ts";
import { Node, Secret, typeMeta, type KubeClient, type TypeRef } from "../../../src/kube/index.ts";

/** Whatever a Cluster is made of, in both clusters. */
const kinds: readonly TypeRef<KubeObject>[] = [
  ...[Cluster, ClusterEndpoint, EndpointRecord, Machine, MachinePool, ShootCluster, ShootControlPlane],
  ...[ShootMachinePool, CredentialsBinding, DNSRecord, DomainReservation, Shoot, Node, Secret],
];

/** What there is of a Cluster: its objects by kind and name, each without what differs from one Cluster to another that was made likewise. */
export type ClusterWorld = Readonly<Record<string, unknown>>;

/**
 * All objects whose names contain that of the Cluster, which is no part of another's: specs, status, labels, annotations, owners,
 * finalizers, and which fields our process owns. Of identities, names, times and hashes it keeps where they stand, and of the observed
 * generation whether it is the present one.
 */
export async function worldOf(client: KubeClient, name: string): Promise<ClusterWorld> {
  const lists = await Promise.all(kinds.map(async (kind) => await client.list(kind)));
  const found = kinds.flatMap((kind, index) =>
    (lists[index] ?? []).map((object) => ({ ...object, ...typeMeta(kind) })),
  );
  const own = found.filter(({ metadata }) => metadata.name.includes(name));
  const uids = new Map(own.map(({ kind, metadata: { uid = "" } }) => [uid, `uid of ${kind}`]));
  const described = own.map((object) => [`${object.kind} ${object.metadata.name}`, describe(object)]);
  const text = JSON.stringify(Object.fromEntries(described))
    .replaceAll(name, "NAME")
    .replaceAll(anyUid, (uid) => uids.get(uid) ?? "uid of what has gone")
    .replaceAll(anyTime, "TIME")
    .replaceAll(anyHash, "HASH");
  return JSON.parse(text) as ClusterWorld;
}

const anyUid = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;
const anyTime = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const anyHash = /\b[0-9a-f]{64}\b/g;

function describe(object: KubeObject): unknown {
  const {
    metadata,
    apiVersion: _,
    kind,
    ...content
  } = object.kind === Cluster.kind ? withoutFirstWriter(object) : object;
  const { labels, annotations, finalizers, ownerReferences, deletionTimestamp, generation } = metadata;
  const kept = { labels, annotations, finalizers: finalizers && [...finalizers].sort(), ownerReferences };
  const status = describeStatus(content["status"], { generation, isOthers: wordedByOthers.includes(kind) });
  const data = kind === Secret.kind ? decode(content["data"]) : content["data"];
  return { ...kept, isLeaving: deletionTimestamp !== undefined, owned: ownedByUs(metadata), ...content, data, status };
}

/**
 * Of a Cluster, not who brought the endpoint onto it: core copies its control plane's where that is initialized and the field is empty
 * still, as while our process is dead. The value is the same.
 */
function withoutFirstWriter(object: KubeObject): KubeObject {
  const { metadata } = object;
  const { [SURFACED_LABEL]: _, ...labels } = metadata.labels ?? {};
  const managedFields = metadata.managedFields?.filter(({ subresource }) => subresource === "status");
  return { ...object, metadata: { ...metadata, labels, managedFields } };
}

/** Names stand in what Secrets hold, too. */
const decode = (data: unknown): unknown =>
  Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(String(value), "base64").toString()]),
  );

interface Status {
  readonly observedGeneration?: number;
  readonly lastOperation?: { readonly state?: string };
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly observedGeneration?: number;
  }[];
}

/** Whose status is the core manager's or an extension's: their words tell what happened on the way, such as what was created at first. */
const wordedByOthers: readonly string[] = [Cluster.kind, Machine.kind, MachinePool.kind, DNSRecord.kind];

/** Core leaves Machines out of these that are younger than 10 s, so they say how long ago core has last looked. */
const ofAnAge: readonly string[] = ["ControlPlaneMachinesUpToDate", "WorkerMachinesUpToDate"];

/** Which condition was written first says nothing; nor does the generation at which one became what it is. */
function describeStatus(status: unknown, o: { readonly generation: number | undefined; readonly isOthers: boolean }) {
  if (typeof status !== "object" || status === null) return status;
  const { observedGeneration, conditions, lastOperation, ...others } = status as Status;
  const lasting = conditions?.filter(({ type }) => !o.isOthers || !ofAnAge.includes(type));
  const said = lasting?.map((one) => {
    const { observedGeneration: _, ...condition } = one;
    return o.isOthers ? { type: one.type, status: one.status } : condition;
  });
  return {
    ...others,
    ...(o.isOthers && { deprecated: undefined }),
    ...(lastOperation && { lastOperation: o.isOthers ? lastOperation.state : lastOperation }),
    ...(observedGeneration !== undefined && { isCurrent: observedGeneration === o.generation }),
    ...(said && { conditions: Object.fromEntries(said.map((condition) => [condition.type, condition])) }),
  };
}

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: unknown;
}

/** The shares that the process's field managers have: what one owns, and another does not, goes when it is no longer wanted. */
const ownedByUs = ({
  managedFields = [],
}: {
  readonly managedFields?: readonly ManagedFields[] | undefined;
}): unknown =>
  Object.fromEntries(
    managedFields
      .filter(({ manager = "" }) => manager.startsWith("perennial-cluster-"))
      .map(({ manager, operation, subresource = "", fieldsV1 }) => [
        `${manager} ${operation} ${subresource}`,
        fieldsV1,
      ]),
  );
