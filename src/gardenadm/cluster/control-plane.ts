import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import {
  components,
  imagesFor,
  withGardenerDefaults,
  type ComponentName,
  type ControlPlaneContext,
  type ControlPlaneNode,
} from "../../components/index.ts";
import { Node, Secret, type KubeClient } from "../../kube/index.ts";
import { Cluster, type OperatingSystemConfig } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { checksumOf } from "../../components/index.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { controlPlaneMachines, type ControlPlaneMachines } from "../../self-hosted/machine-config.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { readIngress } from "./ingress.ts";
import { OperatorError } from "../steps/fault.ts";
import type { ThisMachine } from "../machine/this-machine.ts";

/** The namespace of a self-hosted Shoot's control plane. */
export const NAMESPACE = SYSTEM_NAMESPACE;

/** The workloads that become static pods, in the order in which they begin. */
const STATIC: readonly ComponentName[] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** What a self-hosted Shoot is made from. */
type Made = Pick<Configuration, "shoot" | "cloudProfile">;

/** What the control plane with this machine in it is made from, with what the cluster has of Secrets by now. */
export async function readControlPlane(
  client: KubeClient,
  { shoot, cloudProfile }: Made,
  { hostName: name, addresses }: Pick<ThisMachine, "hostName" | "addresses">,
  uid: string,
): Promise<ControlPlaneContext> {
  const made = { shoot: Shoot.parse({ ...shoot, metadata: { ...shoot.metadata, uid } }), cloudProfile };
  return await contextOf(client, made, withOwn(await knownNodes(client), { name, addresses }));
}

/** The same of the nodes that the cluster has, and of the Shoot as the cluster knows it. Throws an OperatorError where it knows none. */
export async function readClusterContext(client: KubeClient): Promise<ControlPlaneContext> {
  return await contextOf(client, await readMade(client), await knownNodes(client));
}

/** The Shoot and its profile, as the cluster itself knows them. */
export async function readMade(client: KubeClient): Promise<Made> {
  const made = await findMade(client);
  if (made !== undefined) return made;
  throw new OperatorError(`Cluster ${NAMESPACE} does not exist: 'gardenadm init' on the first node makes it`);
}

/** The same; undefined while the cluster knows of none. */
export async function findMade(client: KubeClient): Promise<Made | undefined> {
  const cluster = await client.read(Cluster, { name: NAMESPACE });
  return cluster && Cluster.schema.parse(cluster).spec;
}

async function contextOf(
  client: KubeClient,
  { shoot, cloudProfile }: Made,
  nodes: readonly ControlPlaneNode[],
): Promise<ControlPlaneContext> {
  const secrets = await client.list(Secret, { namespace: NAMESPACE });
  const authority = secrets.find(({ metadata }) => metadata.name === "ca")?.data?.["ca.crt"];
  const domain = shoot.spec.dns?.domain;
  const ingress = await readIngress(client, shoot);
  return {
    // Cluster kube-system has these defaults, from which machines that join read the Shoot: all are to make the same of it.
    ...{ shoot: withGardenerDefaults(shoot), cloudProfile, nodes },
    namespace: NAMESPACE,
    checksums: Object.fromEntries(secrets.map(({ metadata, data = {} }) => [metadata.name, checksumOf(data)])),
    images: imagesFor(shoot.spec.kubernetes.version),
    managesResources: true,
    ...(authority === undefined ? {} : { authority: Buffer.from(authority, "base64").toString() }),
    ...(domain === undefined ? {} : { externalDomain: domain }),
    ...(ingress.length === 0 ? {} : { ingress }),
  };
}

/** The nodes that carry the control plane, in the order of their names. */
async function knownNodes(client: KubeClient): Promise<ControlPlaneNode[]> {
  const nodes = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
  return nodes.flatMap(nodeOf).toSorted(byName);
}

/**
 * With this one, which founds its etcds where it is the only one, once: when the cluster knows its Node, they have data, and without it
 * they are to stay down instead of beginning an empty cluster.
 */
function withOwn(known: readonly ControlPlaneNode[], own: ControlPlaneNode): ControlPlaneNode[] {
  if (known.length === 0) return [{ ...own, founds: true }];
  return [...known.filter(({ name }) => name !== own.name), own].toSorted(byName);
}

const byName = (one: ControlPlaneNode, other: ControlPlaneNode): number => (one.name < other.name ? -1 : 1);

function nodeOf({ metadata: { name }, status }: Node): ControlPlaneNode[] {
  const internal = (status?.addresses ?? []).filter(({ type }) => type === "InternalIP");
  const [first, ...more] = internal.map(({ address }) => address);
  return first === undefined ? [] : [{ name, addresses: [first, ...more] }];
}

/** The objects of the control plane's components, its workloads without pods of their own. */
export const controlPlaneObjects = (context: ControlPlaneContext): KubeObject[] =>
  STATIC.flatMap((name) => components[name].objects(context));

/** What the machines of a control plane become by the objects that the cluster has, on top of what their operating system has left. */
export async function describeMachine(
  client: KubeClient,
  context: ControlPlaneContext,
  objects: readonly KubeObject[],
  base?: OperatingSystemConfig,
): Promise<ControlPlaneMachines> {
  const secrets = await client.list(Secret, { namespace: NAMESPACE });
  const workloads = objects.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  return controlPlaneMachines(context, { workloads, objects: [...objects, ...secrets], base });
}

/**
 * The uid of the Shoot: that of its file, else the one that it has in a garden, else a new one. It is on the disk, whole, before
 * anything uses it.
 */
export async function ensureUid(file: string, { metadata }: Shoot): Promise<string> {
  const found = await readFile(file, "utf8").catch(() => "");
  if (found.trim() !== "") return found.trim();
  const uid = metadata.uid ?? randomUUID();
  await writeWhole(file, Buffer.from(`${uid}\n`), 0o600);
  return uid;
}
