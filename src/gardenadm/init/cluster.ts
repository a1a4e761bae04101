import { randomUUID } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import {
  components,
  imagesFor,
  type ComponentName,
  type ControlPlaneContext,
  type ControlPlaneNode,
} from "../../components/index.ts";
import { Node, Secret, type KubeClient } from "../../kube/index.ts";
import type { OperatingSystemConfig } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { checksumOf } from "../../components/index.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { controlPlaneMachines, type ControlPlaneMachines } from "../../self-hosted/machine-config.ts";
import type { Configuration } from "../configuration/configuration.ts";
import type { ThisMachine } from "./machine.ts";

/** The namespace of a self-hosted Shoot's control plane. */
export const NAMESPACE = SYSTEM_NAMESPACE;

/** The workloads that become static pods, in the order in which they begin. */
const STATIC: readonly ComponentName[] = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** What the control plane on this machine is made from, with what the cluster has of Secrets by now. */
export async function readControlPlane(
  client: KubeClient,
  { shoot, cloudProfile }: Pick<Configuration, "shoot" | "cloudProfile">,
  { hostName, addresses }: Pick<ThisMachine, "hostName" | "addresses">,
  uid: string,
): Promise<ControlPlaneContext> {
  const secrets = await client.list(Secret, { namespace: NAMESPACE });
  const authority = secrets.find(({ metadata }) => metadata.name === "ca")?.data?.["ca.crt"];
  const domain = shoot.spec.dns?.domain;
  return {
    shoot: Shoot.parse({ ...shoot, metadata: { ...shoot.metadata, uid } }),
    cloudProfile,
    namespace: NAMESPACE,
    checksums: Object.fromEntries(secrets.map(({ metadata, data = {} }) => [metadata.name, checksumOf(data)])),
    images: imagesFor(shoot.spec.kubernetes.version),
    nodes: await controlPlaneNodes(client, { name: hostName, addresses }),
    managesResources: true,
    ...(authority === undefined ? {} : { authority: Buffer.from(authority, "base64").toString() }),
    ...(domain === undefined ? {} : { externalDomain: domain }),
  };
}

/**
 * The nodes that carry the control plane: those that the cluster has, and this one. The only one founds its etcds, once: when the
 * cluster knows its Node, they have data, and without it they are to stay down instead of beginning an empty cluster.
 */
async function controlPlaneNodes(client: KubeClient, own: ControlPlaneNode): Promise<ControlPlaneNode[]> {
  const known = (await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL })).flatMap(nodeOf);
  const others = known.filter(({ name }) => name !== own.name);
  if (known.length === 0) return [{ ...own, founds: true }];
  return [...others, own].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function nodeOf(node: Node): ControlPlaneNode[] {
  const { addresses = [] } =
    (node as { status?: { addresses?: readonly { type: string; address: string }[] } }).status ?? {};
  const [first, ...more] = addresses.filter(({ type }) => type === "InternalIP").map(({ address }) => address);
  return first === undefined ? [] : [{ name: node.metadata.name, addresses: [first, ...more] }];
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

/** Whether a file is there. */
export async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}
