import { MACHINE_CHECKSUM_ANNOTATION, WORKLOADS_CHECKSUM_ANNOTATION } from "../../api/annotations.ts";
import { NODE_AGENT_CONTROLLER } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { machineContent } from "../../components/node/node-agent-secret.ts";
import { ConfigMap, createEventRecorder, Deployment, Secret, StatefulSet, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { NoStaticPodError } from "../../self-hosted/refusal.ts";
import { staticPod, type StaticPod } from "../../self-hosted/static-pods.ts";
import { STATIC_POD_FILES } from "../../self-hosted/volumes.ts";
import { workloadsChecksum } from "../../self-hosted/workloads-checksum.ts";
import { NAMESPACE } from "../cluster/control-plane.ts";
import { readMachineOrder } from "../cluster/machine-order.ts";
import { tryTurn } from "../cluster/turn.ts";
import { areOthers, workloadsOf } from "./static-pod-workloads.ts";

/** Where workloads stand, and the Secret that says what the machines of the control plane's pool are. */
export interface RenewalDeps {
  /** With an administrator's rights. */
  readonly client: KubeClient;
  readonly secretName: string;
  /** The node that acts. */
  readonly hostName: string;
  readonly log: Logger;
}

/**
 * Says in the Secret of the control plane's pool what its static pods are by the workloads that stand in the cluster, and leaves all
 * else in it. Answers "waiting" where another node, or a command, changes the control plane. A workload that no static pod can be
 * made of is said so by an Event, and changes nothing: throws a NoStaticPodError.
 */
export async function renewStaticPods({ client, secretName, hostName, log }: RenewalDeps): Promise<"done" | "waiting"> {
  const turn = await tryTurn(client, hostName);
  if (turn === undefined) return "waiting";
  try {
    const secret = await client.read(Secret, { namespace: NAMESPACE, name: secretName });
    const present = [...(await client.list(Deployment, HERE)), ...(await client.list(StatefulSet, HERE))];
    if (secret === undefined || !areOthers(secret, present)) return "done";
    const workloads = workloadsOf(secret, present);
    const pods = await translate(client, secret, workloads);
    const { apiVersion, kind, type } = secret;
    const { name, namespace, labels, annotations, resourceVersion = "" } = secret.metadata;
    const { data, checksum } = machineContent(contentOf(secret, pods));
    const checksums = {
      [MACHINE_CHECKSUM_ANNOTATION]: checksum,
      [WORKLOADS_CHECKSUM_ANNOTATION]: workloadsChecksum(workloads),
    };
    await client.apply<KubeObject>({
      ...{ apiVersion, kind, type, data },
      metadata: {
        ...{ name, namespace, resourceVersion, annotations: { ...annotations, ...checksums } },
        ...(labels && { labels }),
      },
    });
    log.info({ secret: name, workloads: workloads.map(({ metadata }) => metadata.name) }, "static pods made anew");
    return "done";
  } catch (error) {
    if (error instanceof NoStaticPodError) await announce(error, { client, hostName, log });
    throw error;
  } finally {
    await turn.end();
  }
}

const HERE = { namespace: NAMESPACE } as const;

/** With the files of all nodes that the Secret has files for: a node that joins meanwhile has its own in it already. */
async function translate(client: KubeClient, secret: Secret, workloads: readonly KubeObject[]): Promise<StaticPod[]> {
  const { files = [] } = readMachineOrder(secret).config.spec;
  const nodes = [...new Set(files.flatMap(({ hostName }) => hostName ?? []))].toSorted();
  const objects = [...(await client.list(ConfigMap, HERE)), ...(await client.list(Secret, HERE))];
  return workloads.map((workload) => staticPod({ workload, objects, nodes }));
}

/** The configuration with these static pods in the place of those that it has; manifests come last. */
function contentOf(secret: Secret, pods: readonly StaticPod[]): object {
  const { config } = readMachineOrder(secret);
  const isOfPods = (path: string) =>
    pods.some(({ pod: { metadata } }) => path.startsWith(`${STATIC_POD_FILES}/${metadata.name}/`)) ||
    pods.some(({ manifest }) => manifest.path === path);
  const kept = (config.spec.files ?? []).filter(({ path }) => !isOfPods(path));
  const files = [...kept, ...pods.flatMap((pod) => pod.files), ...pods.map(({ manifest }) => manifest)];
  return { ...config, spec: { ...config.spec, files } };
}

/** Says it where the one who has changed the workload looks. */
async function announce(
  error: NoStaticPodError,
  { client, hostName, log }: Pick<RenewalDeps, "client" | "hostName" | "log">,
): Promise<void> {
  const { kind, name } = error.workload;
  const type = kind === StatefulSet.kind ? StatefulSet : Deployment;
  const regarding = await client.read(type, { namespace: NAMESPACE, name });
  if (regarding === undefined) return;
  const recorder = createEventRecorder({ client, controller: NODE_AGENT_CONTROLLER, instance: hostName, log });
  recorder.record({ regarding, type: "Warning", reason: "NoStaticPod", action: "Translate", note: error.message });
  await recorder.settled();
}
