import { ETCD_REPLACED_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/index.ts";
import { commandLine } from "../command-line.ts";
import { scheduledReplicasOf, type ControlPlaneContext } from "../context.ts";
import { mountFiles } from "../files.ts";
import {
  controlPlanePod,
  controlPlaneRole,
  leavesLastWords,
  priorityClass,
  probe,
  restricted,
  type Timing,
} from "../workload.ts";
import { etcdPorts, type EtcdRole } from "./addresses.ts";
import { etcdChecks } from "./check.ts";
import { nodeConfiguration } from "./node-configuration.ts";
import { dataVolume, settings, type MemberPlace } from "./settings.ts";

/** The Shoot's two etcds: `etcd-main` for everything, `etcd-events` for events, which come and go. */
export function etcd(context: ControlPlaneContext): KubeObject[] {
  const main = cluster(context, { role: "main", storage: MAIN_STORAGE, quota: 8 * 1024 ** 3 });
  return [...main, ...etcdEvents(context), ...(context.nodes === undefined ? etcdChecks(context) : [])];
}

/** The one of them that starts empty, also where a Shoot has a past. */
export const etcdEvents = (context: ControlPlaneContext): KubeObject[] =>
  cluster(context, { role: "events", storage: "2Gi", quota: 1024 ** 3 });

/** The only member of one of a Shoot's etcds, as it is known to itself and its peers. */
export function member(cluster: "etcd-main" | "etcd-events", namespace: string) {
  const name = `${cluster}-0`;
  return { name, token: cluster, peer: `https://${name}.${cluster}-peer.${namespace}.svc:2380` };
}

const MAIN_STORAGE = "10Gi";

/** The claim of the only pod of an etcd in a seed: Kubernetes names it `<template>-<set>-<ordinal>`. */
export const etcdClaimName = (role: EtcdRole): string => `${role}-etcd-etcd-${role}-0`;

/** The claim of etcd-main. */
export const mainClaim = {
  name: etcdClaimName("main"),
  labels: { app: "etcd-statefulset", role: "main" },
  spec: claimSpec(MAIN_STORAGE),
} as const;

interface EtcdCluster {
  readonly role: EtcdRole;
  /** Size of the volume; a StatefulSet's volumes cannot be resized later. */
  readonly storage: string;
  /** Bytes after which etcd takes no more writes. */
  readonly quota: number;
}

function cluster(context: ControlPlaneContext, { role, storage, quota }: EtcdCluster): KubeObject[] {
  const { namespace, images, nodes } = context;
  const name = `etcd-${role}` as const;
  const selector = { app: "etcd-statefulset", role };
  const metadata = { namespace, labels: { ...selector, ...controlPlaneRole } };
  const ports = etcdPorts(role, context);
  const replacement = context.etcdReplacements?.[role];
  const configuration = nodes && nodeConfiguration(role, nodes, quota);
  const files = mountFiles(
    context,
    { "ca-etcd": ["ca.crt"], "ca-etcd-peer": ["ca.crt"], "etcd-server": "all", "etcd-peer": "all" },
    configuration && [configuration.mounted],
  );
  const volume = `${role}-etcd`;
  const health = (path: string, timing: Timing) => {
    const { httpGet, ...others } = probe(path, ports.metrics, timing, "HTTP");
    // On a host's network, all others would read what only its kubelet asks for.
    return { httpGet: { ...(nodes && { host: "127.0.0.1" }), ...httpGet }, ...others };
  };
  const container = {
    name: "etcd",
    image: images.etcd,
    imagePullPolicy: "IfNotPresent",
    command: configuration?.command ?? commandLine("etcd", settings(inSeed(name, context), quota)),
    ...(nodes === undefined && role === "main" && { env: [INITIAL_STATE] }),
    ports: Object.entries(ports).map(([each, containerPort]) => ({ name: each, containerPort })),
    startupProbe: health("/readyz", { periodSeconds: 1, failureThreshold: 300 }),
    livenessProbe: health("/livez", { periodSeconds: 10, failureThreshold: 6 }),
    readinessProbe: health("/readyz", { periodSeconds: 5, failureThreshold: 3 }),
    resources: { requests: { cpu: "25m", memory: "64Mi" } },
    securityContext: restricted(),
    ...leavesLastWords,
    volumeMounts: [{ name: volume, mountPath: dataVolume.mountPath }, ...files.volumeMounts],
  };
  const spec = {
    ...controlPlanePod,
    priorityClassName: priorityClass.first,
    terminationGracePeriodSeconds: 30,
    containers: [container],
    volumes: files.volumes,
  };
  return [
    ...(configuration?.files ?? []).map(({ name: file, data }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: file, ...metadata },
      data,
    })),
    ...(nodes === undefined ? services(name, metadata, selector) : []),
    {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name, ...metadata, ...(replacement && { annotations: { [ETCD_REPLACED_ANNOTATION]: replacement } }) },
      spec: {
        replicas: scheduledReplicasOf(context),
        serviceName: `${name}-peer`,
        podManagementPolicy: "Parallel",
        selector: { matchLabels: selector },
        template: { metadata: { labels: metadata.labels, annotations: files.annotations }, spec },
        volumeClaimTemplates: [
          {
            apiVersion: "v1",
            kind: "PersistentVolumeClaim",
            metadata: { name: volume },
            spec: claimSpec(storage),
          },
        ],
      },
    },
  ];
}

function claimSpec(storage: string) {
  return { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } };
}

/**
 * Whether etcd-main may begin an empty cluster, which it must not once an API server has stored something: without its data it ends then.
 * The kubelet reads it each time that it starts the container, so that no pod is replaced when it changes.
 */
const INITIAL_STATE = {
  name: "ETCD_INITIAL_CLUSTER_STATE",
  valueFrom: { configMapKeyRef: { name: "etcd-main-state", key: "initial-cluster-state", optional: true } },
};

/** Has etcd-main not begin anew from now on. An API server is deployed beside it, once there is an etcd for it. */
export const existingEtcd = ({ namespace }: ControlPlaneContext): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: "etcd-main-state",
    namespace,
    labels: { app: "etcd-statefulset", role: "main", ...controlPlaneRole },
  },
  data: { "initial-cluster-state": "existing" },
});

function inSeed(name: "etcd-main" | "etcd-events", context: ControlPlaneContext): MemberPlace {
  const { namespace, etcdDirectories = {} } = context;
  const { name: self, token, peer } = member(name, namespace);
  const directory = etcdDirectories[name === "etcd-main" ? "main" : "events"];
  return {
    ...{ name: self, token, peer, initialCluster: `${self}=${peer}` },
    ...(directory !== undefined && { directory: `${dataVolume.mountPath}/${directory}` }),
    client: `https://${name}-client.${namespace}.svc:2379`,
    listen: { client: "https://0.0.0.0:2379", peer: "https://0.0.0.0:2380", metrics: "http://0.0.0.0:2381" },
  };
}

function services(name: string, others: Omit<KubeObject["metadata"], "name">, selector: object): KubeObject[] {
  return [
    service({ name: `${name}-client`, ...others }, { selector, ports: [servicePort("client", 2379)] }),
    // Peers find each other before they are ready.
    service(
      { name: `${name}-peer`, ...others },
      { clusterIP: "None", publishNotReadyAddresses: true, selector, ports: [servicePort("peer", 2380)] },
    ),
  ];
}

function service(metadata: KubeObject["metadata"], spec: object): KubeObject {
  return { apiVersion: "v1", kind: "Service", metadata, spec };
}

function servicePort(name: string, port: number) {
  return { name, port, protocol: "TCP", targetPort: port };
}
