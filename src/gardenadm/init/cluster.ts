import { randomUUID } from "node:crypto";
import { access, readFile } from "node:fs/promises";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import { components, imagesFor, type ComponentName, type ControlPlaneContext } from "../../components/index.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
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
  { shoot, cloudProfile }: Configuration,
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
    nodes: [{ name: hostName, addresses, founds: true }],
    ...(authority === undefined ? {} : { authority: Buffer.from(authority, "base64").toString() }),
    ...(domain === undefined ? {} : { externalDomain: domain }),
  };
}

/** The objects of the control plane's components, its workloads without pods of their own. */
export const controlPlaneObjects = (context: ControlPlaneContext): KubeObject[] =>
  STATIC.flatMap((name) => components[name].objects(context));

/** What the machine becomes by the objects that the cluster has. */
export async function describeMachine(
  client: KubeClient,
  context: ControlPlaneContext,
  objects: readonly KubeObject[],
): Promise<ControlPlaneMachines> {
  const secrets = await client.list(Secret, { namespace: NAMESPACE });
  const workloads = objects.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
  return controlPlaneMachines(context, workloads, [...objects, ...secrets]);
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
