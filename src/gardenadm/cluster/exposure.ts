import { applyExtensionObject } from "../../activities/extensions/apply-object.ts";
import { confirmAndRemove } from "../../activities/extensions/existing.ts";
import { needsPeriodicTrigger } from "../../activities/extensions/trigger.ts";
import { isReady } from "../../activities/waits/readiness.ts";
import { DNSRecord, SelfHostedShootExposure } from "../../api/index.ts";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { apiServerRecord, exposureObject, exposureOf, type ControlPlaneContext } from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import { Node, type Kind, type KubeClient } from "../../kube/index.ts";
import { NAMESPACE } from "./control-plane.ts";
import { OperatorError } from "../steps/fault.ts";
import { readIngress } from "./ingress.ts";
import { untilReached } from "./reached.ts";

/** Nodes of the control plane that are not to be led to any more. */
export interface Exposing {
  readonly without?: string;
}

/**
 * Has what leads to the API servers from elsewhere lead to those of all healthy nodes of the control plane, and waits until it
 * does: an extension, and the DNS to what that answers, or the DNS alone. What is not asked for any more goes. Asks no controller where
 * all is well. Throws an OperatorError where the extension's answer is of no use, else as `untilReached` does.
 */
export async function exposeControlPlane(
  client: KubeClient,
  context: ControlPlaneContext,
  scope: StepScope,
  { without }: Exposing = {},
): Promise<void> {
  const endpoints = await findEndpoints(client, without);
  const ingress = await askExtension(client, exposureObject(context, endpoints), context, scope);
  const addresses = exposureOf(context).by === "extension" ? ingress : endpoints.flatMap(outwardAddress);
  const record = apiServerRecord(context, addresses);
  if (record === undefined)
    return await removeFormer(client, DNSRecord, `${context.shoot.metadata.name}-external`, scope);
  await applied(client, record, "DNSRecord", scope);
}

type Endpoint = SelfHostedShootExposure["spec"]["endpoints"][number];

/** All nodes, where none is healthy: nothing else is known that could lead anywhere. */
async function findEndpoints(client: KubeClient, without: string | undefined): Promise<Endpoint[]> {
  const all = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
  const nodes = all.filter(({ metadata }) => metadata.name !== without);
  const healthy = nodes.filter((node) => isReady(node));
  return (healthy.length > 0 ? healthy : nodes)
    .map(({ metadata: { name }, status }) => ({ nodeName: name, addresses: [...(status?.addresses ?? [])] }))
    .toSorted((one, other) => (one.nodeName < other.nodeName ? -1 : 1));
}

/** The address for clients outside of the nodes' network, where the node has one. */
function outwardAddress({ addresses }: Endpoint): string[] {
  const of = (wanted: string) => addresses.find(({ type }) => type === wanted)?.address;
  return [of("ExternalIP") ?? of("InternalIP") ?? []].flat();
}

/** Where the extension leads from; empty where none is asked. */
async function askExtension(
  client: KubeClient,
  object: SelfHostedShootExposure | undefined,
  { shoot }: ControlPlaneContext,
  scope: StepScope,
): Promise<readonly string[]> {
  const { name } = shoot.metadata;
  if (object === undefined) {
    await removeFormer(client, SelfHostedShootExposure, name, scope);
    return [];
  }
  await applied(client, object, "SelfHostedShootExposure", scope);
  const ingress = await readIngress(client, shoot);
  if (ingress.length > 0) return ingress;
  throw new OperatorError(
    `SelfHostedShootExposure ${NAMESPACE}/${name} says Succeeded and no status.ingress: see the log of the extension of type ${object.spec.type}`,
  );
}

async function applied(
  client: KubeClient,
  object: KubeObject,
  kind: "SelfHostedShootExposure" | "DNSRecord",
  scope: StepScope,
): Promise<void> {
  await untilReached(client, [await applyExtensionObject(client, object, { kind, asks: needsPeriodicTrigger })], scope);
}

/** What was exposed otherwise before. */
async function removeFormer(
  client: KubeClient,
  kind: Kind<KubeObject, "Namespaced">,
  name: string,
  scope: StepScope,
): Promise<void> {
  const found = await client.read(kind, { namespace: NAMESPACE, name });
  if (found === undefined) return;
  await confirmAndRemove(client, found, {});
  const { apiVersion, kind: called } = found;
  const target = { apiVersion, kind: called, namespace: NAMESPACE, name, until: "gone" as const };
  await untilReached(client, [{ ...target, severeAfter: 30_000, deadline: 120_000 }], scope);
}
