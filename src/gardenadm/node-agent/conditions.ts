import { isDeepStrictEqual } from "node:util";
import { propagatedConditions, type ExtensionReport } from "../../activities/shoot/extension-reports.ts";
import { allAre, both, examine, MANAGED_RESOURCE, nextCondition, safely } from "../../activities/shoot/health.ts";
import { healthy, isIgnored } from "../../activities/managed-resources/health.ts";
import { findPodTrouble } from "../../activities/waits/pod-trouble.ts";
import { completed, hasEnded, isReady, nodeSigns, type Readiness } from "../../activities/waits/readiness.ts";
import { CONTROL_PLANE_LABEL, SNAPSHOT_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE, SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { healthTypes, isCaredFor, type HealthType } from "../../api/shoot/health.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isNotFound } from "../../kube/errors.ts";
import { Job, Node, Pod } from "../../kube/kinds.ts";
import { changeShootStatus, readShootStatus } from "../cluster/shoot-status.ts";

const namespace = SYSTEM_NAMESPACE;

/**
 * Looks at the health of the cluster, and says it in the Shoot of `Cluster` kube-system, by the conditions that a Shoot in a garden has;
 * writes only what has changed. A control plane that is still being built is not sick: nothing is said of it. Answers whether all is
 * well, as far as it has looked.
 */
export async function keepConditions(client: KubeClient, now: () => Date): Promise<boolean> {
  const said = await readShootStatus(client);
  if (said === undefined || !isCaredFor({ status: said })) return true;
  const reports = await readReports(client);
  const readiness = await lookAround(client, reports, now());
  await changeShootStatus(client, "gardener-node-agent", (status) => {
    if (!isCaredFor({ status })) return undefined;
    const { conditions = [] } = status;
    const own = healthTypes.map((type) =>
      nextCondition(
        type,
        conditions.find((before) => before.type === type),
        readiness[type],
        now(),
      ),
    );
    const next = [...own, ...propagatedConditions(reports, new Set(healthTypes), now())];
    return isDeepStrictEqual(next, conditions) ? undefined : { conditions: next };
  });
  return healthTypes.every((type) => readiness[type].reached);
}

/** As for any Shoot; and besides, since no garden says it, whether static pods run, and what installs extensions has done so. */
async function lookAround(
  client: KubeClient,
  reports: readonly ExtensionReport[],
  now: Date,
): Promise<Record<HealthType, Readiness>> {
  const [examined, staticPods, extensions, snapshots] = await Promise.all([
    examine({ seed: client, shoot: { ...client, list: listSigns(client) }, reports }, namespace, now),
    safely(async () => await staticPodsReady(client)),
    safely(async () => await extensionsInstalled(client)),
    safely(async () => await lastSnapshot(client)),
  ]);
  const controlPlane = [staticPods, extensions, snapshots].reduce(both, examined.ControlPlaneHealthy);
  return { ...examined, ControlPlaneHealthy: controlPlane };
}

const STATIC_PODS = ["etcd-main", "etcd-events", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/** Lists as the client does, of Nodes their signs alone: this agent has little memory. */
const listSigns =
  (client: KubeClient): KubeClient["list"] =>
  async (type, selection) =>
    await client.list(type, type.kind === Node.kind ? { ...selection, keep: signs } : selection);

const signs = <T extends KubeObject>(node: T): T => nodeSigns(node) as KubeObject as T; // T is Node's type

/**
 * By their mirrors: those of a node that is silent are not ready soon. Only those of the node itself count: any kubelet may say that it
 * has a static pod of such a name.
 */
async function staticPodsReady(client: KubeClient): Promise<Readiness> {
  const nodes = await client.list(Node, { labelSelector: CONTROL_PLANE_LABEL });
  const missing: string[] = [];
  for (const { metadata } of nodes) {
    const node = metadata.name;
    const selection = { namespace, labelSelector: "static-pod=true", fieldSelector: `spec.nodeName=${node}` };
    const pods = await client.list(Pod, selection);
    const ready = new Set(pods.filter(isReady).map((pod) => pod.metadata.name));
    const unready = STATIC_PODS.filter((pod) => !ready.has(`${pod}-${node}`));
    if (unready.length > 0) missing.push(`${unready.join(", ")} on ${node}`);
  }
  if (missing.length === 0) return { reached: true };
  return { reached: false, message: `Not ready: ${missing.toSorted().join("; ")}` };
}

async function extensionsInstalled(client: KubeClient): Promise<Readiness> {
  const managed = await client.list(MANAGED_RESOURCE, { namespace: GARDEN_NAMESPACE });
  return allAre(
    managed.filter((one) => !isIgnored(one)),
    healthy,
  );
}

/** A failure stands until a later one has succeeded, or its Job is gone. */
async function lastSnapshot(client: KubeClient): Promise<Readiness> {
  const jobs = await client.list(Job, { namespace, labelSelector: `${SNAPSHOT_LABEL}=scheduled` });
  const [last] = jobs.filter(hasEnded).toSorted(latestFirst);
  const end = last === undefined ? undefined : completed(last);
  if (last === undefined || end === undefined || end.reached) return { reached: true };
  const trouble = await findPodTrouble(client, last).catch(() => undefined);
  const { name } = last.metadata;
  return {
    reached: false,
    message: [`scheduled snapshot ${name}: ${end.message}`, trouble?.message].filter(Boolean).join(": "),
  };
}

const createdAt = ({ metadata: { creationTimestamp = "" } }: KubeObject): string => creationTimestamp;

const latestFirst = (one: KubeObject, other: KubeObject): number => createdAt(other).localeCompare(createdAt(one));

/** Those of `reconcileSelfHosted`, and what extensions may bring besides; without the table of all, which takes megabytes. */
const EXTENSION_KINDS = ["Network", "ControlPlane", "OperatingSystemConfig", "BackupEntry", "DNSRecord", "Extension"];

/** What extensions say of their objects. Where their controllers' Leases are, only a garden's registrations would say: how old it is, is not asked. */
async function readReports(client: KubeClient): Promise<ExtensionReport[]> {
  const apiVersion = "extensions.gardener.cloud/v1alpha1";
  const lists = EXTENSION_KINDS.map(
    async (kind): Promise<KubeObject[]> =>
      // BackupEntries have no namespace; what is not defined is nothing to report.
      await client
        .list({ apiVersion, kind }, kind === "BackupEntry" ? {} : { namespace })
        .catch((error: unknown): KubeObject[] => {
          if (isNotFound(error)) return [];
          throw error;
        }),
  );
  return (await Promise.all(lists)).flat().flatMap(({ kind, metadata, ...object }) => {
    const { conditions = [] } = (object["status"] ?? {}) as Partial<Pick<ExtensionReport, "conditions">>;
    return conditions.length === 0 ? [] : [{ kind, name: metadata.name, namespace, conditions }];
  });
}
