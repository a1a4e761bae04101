import {
  APPLIED_CHECKSUM_ANNOTATION,
  MACHINE_CHECKSUM_ANNOTATION,
  WORKLOADS_CHECKSUM_ANNOTATION,
} from "../../api/annotations.ts";
import { OperatingSystemConfig } from "../../api/index.ts";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  nodeAgentSecret,
  operatingSystemConfigName,
  poolsOf,
  type ControlPlaneContext,
  type WorkerPool,
} from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import { Node, Secret, type KubeClient } from "../../kube/index.ts";
import { machineConfigOf } from "../../self-hosted/machine-config.ts";
import { workloadsChecksum } from "../../self-hosted/workloads-checksum.ts";
import { controlPlaneObjects, describeMachine, NAMESPACE } from "./control-plane.ts";
import { until } from "../steps/until.ts";

/**
 * Says in the Secret of each pool, or only of the control plane's, what its machines are to be: for the control plane's, out of its workloads as they stand after
 * webhooks. Answers with the checksum that nodes of the control plane show once they are that.
 */
export async function orderMachines(
  client: KubeClient,
  context: ControlPlaneContext,
  which: "all" | "control-plane" = "all",
): Promise<string> {
  const workloads: KubeObject[] = [];
  for (const object of controlPlaneObjects(context)) workloads.push(await client.apply(object));
  const secrets = await client.list(Secret, { namespace: NAMESPACE });
  const valueOf = (name: string, key: string): string => {
    const value = secrets.find(({ metadata }) => metadata.name === name)?.data?.[key];
    if (value === undefined) throw new Error(`Secret ${NAMESPACE}/${name} has no key ${key}`);
    return value;
  };
  let checksum = "";
  for (const pool of poolsOf(context)) {
    const base = await readConfig(client, context, pool);
    const isControlPlane = pool.controlPlane !== undefined;
    if (which === "control-plane" && !isControlPlane) continue;
    const config = isControlPlane
      ? (await describeMachine(client, context, workloads, base)).config
      : machineConfigOf(context, pool, base);
    const secret = nodeAgentSecret(context, pool, config, valueOf);
    await client.apply(isControlPlane ? madeOf(secret, workloads) : secret);
    if (isControlPlane) checksum = secret.metadata.annotations?.[MACHINE_CHECKSUM_ANNOTATION] ?? "";
  }
  return checksum;
}

/** Says of which workloads it was made: agents look whether these still stand there. */
function madeOf(secret: KubeObject, objects: readonly KubeObject[]): KubeObject {
  const checksum = workloadsChecksum(objects.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet"));
  const annotations = { ...secret.metadata.annotations, [WORKLOADS_CHECKSUM_ANNOTATION]: checksum };
  return { ...secret, metadata: { ...secret.metadata, annotations } };
}

/** As the operating system's controller has left it; undefined where there is none. */
async function readConfig(
  client: KubeClient,
  context: ControlPlaneContext,
  pool: WorkerPool,
): Promise<OperatingSystemConfig | undefined> {
  const name = operatingSystemConfigName(context, pool, "reconcile");
  return await client.read(OperatingSystemConfig, { namespace: NAMESPACE, name });
}

/** Returns when all nodes of the control plane are what their Secret says; they become it one after another. */
export async function rolledOut(client: KubeClient, checksum: string, scope: StepScope): Promise<void> {
  const advice = "see 'journalctl --unit gardener-node-agent.service' there";
  await until(
    "not all nodes of the control plane are as they are to be",
    scope,
    async () => {
      const nodes = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
      const late = nodes.filter(({ metadata }) => metadata.annotations?.[APPLIED_CHECKSUM_ANNOTATION] !== checksum);
      return late.length === 0 || late.map(({ metadata }) => metadata.name).join(", ");
    },
    { advice, atMost: 600_000 },
  );
}
