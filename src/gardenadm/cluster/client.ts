import type { ClusterSource } from "../../kube/credentials.ts";
import { untrusted, type Bounds } from "../../kube/bounds.ts";
import type { KubeClient } from "../../kube/client.ts";
import { createKubeClient, type KubeClientOptions } from "../../kube/http-client.ts";

/** A client of the cluster that carries its own control plane, and of whose objects its users make as many as they like. */
export const createClusterClient = (source: ClusterSource, options: Omit<KubeClientOptions, "bounds">): KubeClient =>
  createKubeClient(source, { ...options, bounds: ofOneCluster });

/** A process here has one cluster, whose nodes are looked at whole: some 4,000 of them. */
const ofOneCluster: Bounds = { ...untrusted, largestAnswer: 16 * 2 ** 20, largestList: 64_000_000 };
