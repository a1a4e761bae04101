import { Cluster, ClusterEndpoint } from "../../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../../src/api/index.ts";
import type { ProviderObject, ProviderPair } from "../../../src/cluster-api/endpoint/provider-objects.ts";
import { completeEndpoint, type Endpoint } from "../../../src/cluster-api/endpoint/value.ts";
import { clusterOf, endpointOf, owners } from "../cluster-endpoints.ts";
import type { Change } from "./changes.ts";
import { createStore, type Store, type Write } from "./store.ts";

/** A management cluster with one Cluster, what the controller's watches have brought of it, and the core manager's rule. */
export interface World {
  readonly store: Store;
  /** What the controller knows. */
  readonly cache: { cluster: Cluster | undefined; endpoints: readonly ClusterEndpoint[] };
  /** What becomes true right before the controller's next calls, one function each. */
  readonly meanwhile: (() => void)[];
  /** Changes by others, and events that the controller has recorded. */
  changes: number;
  readonly events: string[];
  cluster(): Cluster | undefined;
  endpoints(): ClusterEndpoint[];
  providers(): ProviderPair;
  take(change: Change): void;
  /** The core manager's rule: the infrastructure's value, else the control plane's, and only while there is none (v1.14.2). */
  actAsCore(): void;
  /** The garbage collector's rule: what has owners, of which none is there any more, goes. */
  collect(): void;
  /** Whether an owner with this uid is there. */
  exists(uid: string): boolean;
  /** The Cluster that was there when the controller's present pass began. */
  begunWith: string | undefined;
}

type Fields = { [P in "infrastructure" | "controlPlane"]?: Endpoint | undefined };

/** A Cluster without an endpoint; `onWrite` is told of each write of the controller. */
export function createWorld(onWrite: (write: Write, world: World) => void): World {
  const meanwhile: (() => void)[] = [];
  const store = createStore({ onCall: () => meanwhile.shift()?.(), onWrite: (write) => onWrite(write, world) });
  let incarnation = 1;
  let fields: Fields = {};

  const cluster = () => store.get(Cluster.kind, "foo") as Cluster | undefined;
  const endpoints = () => store.objects(ClusterEndpoint.kind) as ClusterEndpoint[];
  const uidOf = (owner: keyof typeof owners) => `${owners[owner].uid}-${incarnation}`;
  const isThere = () => cluster() !== undefined;

  function makeCluster(value: Endpoint | undefined): void {
    const made = clusterOf(value, { uid: uidOf("cluster"), managedFields: writtenBy("kubectl") });
    store.put(made);
  }

  function setField(controlPlaneEndpoint: Cluster["spec"]["controlPlaneEndpoint"], manager: string): void {
    const present = cluster();
    if (present === undefined) return;
    const { controlPlaneEndpoint: _, ...spec } = present.spec;
    store.put({
      ...present,
      metadata: { ...present.metadata, managedFields: writtenBy(manager) },
      spec: { ...spec, ...(controlPlaneEndpoint && { controlPlaneEndpoint }) },
    });
  }

  const change = (kind: string, name: string, by: (object: KubeObject) => KubeObject) => {
    const present = store.get(kind, name);
    if (present !== undefined) store.put(by(present));
  };
  const withMeta = (object: KubeObject, metadata: object) => ({
    ...object,
    metadata: { ...object.metadata, ...metadata },
  });

  /** What each change does; those of a Cluster that is not there do nothing. */
  const take: { [C in Change as C["is"]]: (change: C) => void } = {
    made({ name, value, owner }) {
      if (store.get(ClusterEndpoint.kind, name) !== undefined || (owner && !isThere())) return;
      const { uid: _, generation: __, creationTimestamp: ___, ...metadata } = endpointOf({ name, ...value }).metadata;
      const ownerReferences = owner ? [{ ...owners[owner], uid: uidOf(owner) }] : [];
      store.put({ ...endpointOf({ name, ...value }), metadata: { ...metadata, labels: {}, ownerReferences } });
    },
    edited: ({ name, value }) =>
      change(ClusterEndpoint.kind, name, (object) => ({
        ...object,
        spec: { ...(object["spec"] as object), ...value },
      })),
    removed: ({ name }) => store.drop(ClusterEndpoint.kind, name),
    leaving: ({ name }) =>
      change(ClusterEndpoint.kind, name, (object) => withMeta(object, { deletionTimestamp: "2026-02-01T00:00:00Z" })),
    field({ provider, value }) {
      fields = { ...fields, [provider]: value };
    },
    foreign: ({ value }) => setField(value, "gitops"),
    paused: ({ paused }) =>
      change(Cluster.kind, "foo", (object) => ({ ...object, spec: { ...(object["spec"] as object), paused } })),
    endpointPaused: ({ name, paused }) =>
      change(ClusterEndpoint.kind, name, (object) =>
        withMeta(object, { annotations: paused ? { "cluster.x-k8s.io/paused": "" } : {} }),
      ),
    clusterGone: () => store.drop(Cluster.kind, "foo"),
    clusterMade({ value }) {
      if (isThere()) return;
      incarnation++;
      fields = {};
      makeCluster(value);
    },
  };

  function providers(): ProviderPair {
    if (!isThere()) return {};
    const objectOf = (of: "infrastructure" | "controlPlane"): ProviderObject => {
      const { apiVersion, kind, name } = owners[of];
      const value = fields[of];
      const spec = { ...(value && { controlPlaneEndpoint: value }) };
      return { apiVersion, kind, metadata: { name, namespace: "fleet", uid: uidOf(of) }, spec };
    };
    return { infrastructure: objectOf("infrastructure"), controlPlane: objectOf("controlPlane") };
  }

  const exists = (uid: string) =>
    isThere() && (["cluster", "infrastructure", "controlPlane"] as const).some((owner) => uidOf(owner) === uid);

  makeCluster(undefined);
  const world: World = {
    ...{ store, meanwhile, cluster, endpoints, providers, exists },
    ...{ cache: { cluster: cluster(), endpoints: [] }, changes: 0, events: [], begunWith: undefined },
    take(one) {
      world.changes++;
      (take[one.is] as (given: Change) => void)(one);
    },
    actAsCore() {
      const present = cluster();
      if (present === undefined || present.spec.paused || completeEndpoint(present.spec.controlPlaneEndpoint)) return;
      const value = fields.infrastructure ?? fields.controlPlane;
      if (value) setField(value, "manager");
    },
    collect() {
      for (const { kind, metadata } of endpoints()) {
        const { ownerReferences = [] } = metadata;
        if (ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => exists(uid)))
          store.drop(kind, metadata.name);
      }
    },
  };
  return world;
}

/** How the API server notes who wrote the endpoint. */
export const writtenBy = (manager: string) => [
  { manager, time: "2026-01-01T00:00:00Z", fieldsV1: { "f:spec": { "f:controlPlaneEndpoint": { "f:host": {} } } } },
];
