import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../src/api/schema/meta.ts";
import { createReflector, refOf, Service, type KubeClient, type TypeRef } from "../src/kube/index.ts";

/** Stands in for a seed's controllers, in this process: extensions that take their time, workloads that take none. */
export interface StandIns {
  /** How long, in ms, an extension takes from now on. */
  take(ms: number): void;
  stop(): Promise<void>;
}

/** Watches the seed and answers what flows ask for, as controllers do: operation annotation away, then the status. */
export async function startStandIns(client: KubeClient): Promise<StandIns> {
  let takes = 0;
  const extend = async (object: KubeObject) => {
    if (object.metadata.annotations?.["gardener.cloud/operation"] === undefined) return;
    const done = sleep(takes); // the acknowledgement is part of what it takes
    const { metadata } = await client.patch(refOf(object), {
      metadata: { annotations: { "gardener.cloud/operation": null } },
    });
    await done;
    await client.patch(refOf(object), { status: extended(metadata) }, { subresource: "status" });
  };
  const rollOut = async (object: KubeObject) => {
    const { status } = object as { status?: { observedGeneration?: number } };
    if (status?.observedGeneration === object.metadata.generation) return;
    const { generation: observedGeneration } = object.metadata;
    const counts = object.kind === "DaemonSet" ? onOneNode : { replicas: 1, updatedReplicas: 1, readyReplicas: 1 };
    await client.patch(refOf(object), { status: { observedGeneration, ...counts } }, { subresource: "status" });
  };
  const balance = async (object: KubeObject) => {
    const { spec, status } = object as { spec?: { type?: string }; status?: { loadBalancer?: { ingress?: object[] } } };
    if (spec?.type !== "LoadBalancer" || status?.loadBalancer?.ingress !== undefined) return;
    await client.patch(
      refOf(object),
      { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } },
      { subresource: "status" },
    );
  };
  const reflectors = [
    ...kinds.map((kind) => follow(client, { apiVersion: "extensions.gardener.cloud/v1alpha1", kind }, extend)),
    ...["Deployment", "StatefulSet", "DaemonSet"].map((kind) =>
      follow(client, { apiVersion: "apps/v1", kind }, rollOut),
    ),
    follow(client, Service, balance),
  ];
  await Promise.all(reflectors.map((reflector) => reflector.synced()));
  return {
    take: (ms) => void (takes = ms),
    stop: async () => void (await Promise.all(reflectors.map((reflector) => reflector.stop()))),
  };
}

/** What a DaemonSet's controller says of a cluster with one node. */
const onOneNode = {
  desiredNumberScheduled: 1,
  currentNumberScheduled: 1,
  updatedNumberScheduled: 1,
  numberReady: 1,
  numberMisscheduled: 0,
};

const kinds = ["Infrastructure", "ControlPlane", "Worker", "OperatingSystemConfig", "Network", "DNSRecord"];

function follow(client: KubeClient, type: TypeRef, act: (object: KubeObject) => Promise<void>) {
  const reflector = createReflector(client, type, {
    onEvent: ({ type: event, object }) => {
      if (event !== "deleted") act(object).catch((error: unknown) => console.error(error));
    },
  });
  reflector.start();
  return reflector;
}

/** A status that says that this very operation has succeeded; with a place for the user data of machines. */
export function extended({ generation, namespace }: KubeObject["metadata"]) {
  const lastUpdateTime = new Date().toISOString().replace(/\.\d+Z$/, "Z");
  return {
    observedGeneration: generation,
    lastOperation: { type: "Create", state: "Succeeded", progress: 100, description: "done", lastUpdateTime },
    cloudConfig: { secretRef: { name: "user-data", namespace } },
  };
}
