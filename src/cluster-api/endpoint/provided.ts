import {
  CLUSTER_NAME_LABEL,
  ClusterEndpoint,
  type Cluster,
  type ControlPlaneEndpoint,
} from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { typeMeta, type KubeClient } from "../../kube/index.ts";
import { covers } from "../shoot/covers.ts";

/** Whose endpoint it is, and what is there of it. */
export interface ProvidedEndpoint {
  readonly cluster: Cluster;
  /** The provider's object, which becomes the controller of the endpoint. */
  readonly owner: KubeObject;
  readonly name: string;
  readonly present: ClusterEndpoint | undefined;
}

/** Makes an endpoint known as a ClusterEndpoint that its provider owns (seed 004). Nothing is written where it says so. */
export async function provideEndpoint(
  management: KubeClient,
  { cluster, owner, name, present }: ProvidedEndpoint,
  { host, port }: ControlPlaneEndpoint,
): Promise<void> {
  const { apiVersion, kind, metadata } = owner;
  const labels = { [CLUSTER_NAME_LABEL]: cluster.metadata.name };
  const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "", controller: true }];
  const spec = { cluster: cluster.metadata.name, host, port, type: "ExternalControlPlaneEndpoint" } as const;
  if (covers(present?.spec, spec) && covers(present?.metadata, { labels, ownerReferences })) return;
  const { namespace } = cluster.metadata;
  await management.apply<ClusterEndpoint>({
    ...typeMeta(ClusterEndpoint),
    metadata: { name, namespace, labels, ownerReferences },
    spec,
  });
}
