import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import {
  createController,
  createReflector,
  isConflict,
  isNotFound,
  refOf,
  type KubeClient,
} from "../../src/kube/index.ts";
import * as kube from "../../src/kube/index.ts";
import type { Logger } from "../../src/log.ts";
import { makeCertificates } from "../support/certificates.ts";

/** A pod, as far as a kubelet looks at it. */
export interface Pod extends kube.Pod {
  readonly spec: PodSpec;
}
const Pod = kube.defineKind<Pod>({ apiVersion: "v1", kind: "Pod", scope: "Namespaced" });

/** What runs in a pod. */
export interface PodSpec {
  readonly nodeName?: string;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
}

/** One program of a pod. */
export interface Container {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly Variable[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly subPath?: string }[];
}

/** A variable of a container: its value, or the field of the pod that it comes from. */
interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

/** What a pod does when it runs. */
export interface Programs {
  /** Runs a container to its end and returns what it printed; throws when it fails. Only for pods of Jobs. */
  run(pod: Pod, container: Container): Promise<string>;
  /** A pod that goes on running has started, or is no more. */
  changed(pod: Pod, running: boolean): void;
  /** A volume claim was deleted. */
  released(namespace: string, claim: string): void;
}

/** Stands in for the kubelets of a seed: binds pods to one node, says that they run, serves the logs of those that end. */
export interface Kubelet {
  stop(): Promise<void>;
}

/** Starts it; the API server fetches logs from it as from any kubelet. */
export async function startKubelet(client: KubeClient, programs: Programs, log: Logger): Promise<Kubelet> {
  const logs = new Map<string, string>();
  const server = await serveLogs(logs);
  const port = (server.address() as AddressInfo).port;
  await registerNode(client, port);

  const finish = async (pod: Pod) => {
    const { namespace, name } = pod.metadata;
    try {
      for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers])
        logs.set(`${namespace}/${name}/${container.name}`, await programs.run(pod, container));
      await writePhase(client, pod, "Succeeded");
    } catch (error) {
      await writePhase(client, pod, "Failed", error instanceof Error ? error.message : String(error));
    }
  };

  const controller = createController({
    name: "kubelet",
    concurrency: 8,
    log,
    async reconcile(key: kube.NamespacedKey) {
      const pod = await client.read(Pod, key);
      if (pod !== undefined) await step(pod).catch(unlessOvertaken);
    },
  });

  const step = async (pod: Pod) => {
    const { phase } = pod.status ?? {};
    if (pod.metadata.deletionTimestamp !== undefined) {
      programs.changed(pod, false);
      return client.remove(refOf(pod), { gracePeriodSeconds: 0, uid: pod.metadata.uid ?? "" });
    }
    if (pod.spec.nodeName === undefined) return bind(client, pod);
    if (phase !== undefined && phase !== "Pending") return;
    if (isOfJob(pod)) return finish(pod);
    programs.changed(pod, true);
    await writePhase(client, pod, "Running");
  };

  const reflector = createReflector(client, Pod, {
    log,
    onEvent({ type, object }) {
      if (type === "deleted") programs.changed(object, false);
      else controller.enqueue({ name: object.metadata.name, namespace: object.metadata.namespace });
    },
  });
  const claims = createReflector(client, kube.PersistentVolumeClaim, {
    log,
    onEvent({ type, object }) {
      if (type === "deleted") programs.released(object.metadata.namespace, object.metadata.name);
    },
  });
  controller.start();
  reflector.start();
  claims.start();
  await Promise.all([reflector.synced(), claims.synced()]);
  return {
    async stop() {
      await Promise.all([reflector.stop(), claims.stop(), controller.stop()]);
      server.closeAllConnections();
      server.close();
    },
  };
}

const NODE = "node";

async function serveLogs(logs: ReadonlyMap<string, string>) {
  const { serverCert, serverKey } = await makeCertificates();
  const server = createServer({ cert: serverCert, key: serverKey }, (request, response) => {
    const [, path = ""] = /^\/containerLogs\/([^?]+)/.exec(request.url ?? "") ?? [];
    const text = logs.get(path);
    response.writeHead(text === undefined ? 404 : 200, { "content-type": "text/plain" }).end(text ?? "no such log");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

async function registerNode(client: KubeClient, port: number): Promise<void> {
  await client.apply({ apiVersion: "v1", kind: "Node", metadata: { name: NODE } });
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }],
  };
  await client.patch(kube.refTo(kube.Node, { name: NODE }), { status }, { subresource: "status" });
}

async function bind(client: KubeClient, { metadata: { name, namespace = "" } }: Pod): Promise<void> {
  const target = { apiVersion: "v1", kind: "Node", name: NODE };
  await client.create({ apiVersion: "v1", kind: "Binding", metadata: { name, namespace }, target });
}

async function writePhase(client: KubeClient, pod: Pod, phase: string, message = ""): Promise<void> {
  const status = phase === "Running" ? "True" : "False";
  const conditions = ["Ready", "ContainersReady", "Initialized", "PodScheduled"].map((type) => ({ type, status }));
  await client.patch(
    refOf(pod),
    {
      metadata: { uid: pod.metadata.uid },
      status: {
        phase,
        message,
        conditions,
        containerStatuses: pod.spec.containers.map((one) => containerStatus(one, phase)),
      },
    },
    { subresource: "status" },
  );
}

/** A Job counts the containers' exit codes; logs are served for containers that have begun. */
function containerStatus({ name }: Container, phase: string) {
  const now = new Date().toISOString();
  const state =
    phase === "Running"
      ? { running: { startedAt: now } }
      : { terminated: { exitCode: phase === "Failed" ? 1 : 0, reason: "Completed", startedAt: now, finishedAt: now } };
  return { name, state, ready: phase === "Running", started: true, restartCount: 0, image: "", imageID: "" };
}

const isOfJob = ({ metadata }: Pod): boolean => (metadata.ownerReferences ?? []).some(({ kind }) => kind === "Job");

/** The next event says how the pod stands now. */
function unlessOvertaken(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error;
}
