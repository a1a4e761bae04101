import type { KubeObject } from "../../api/index.ts";
import { commandLine } from "../command-line.ts";
import { replicasOf, type ControlPlaneContext } from "../context.ts";
import { mountFiles, secretPath } from "../files.ts";
import { controlPlanePod, controlPlaneRole, leavesLastWords, priorityClass, probe, restricted } from "../workload.ts";

/** The Shoot's two etcds: `etcd-main` for everything, `etcd-events` for events, which come and go. */
export function etcd(context: ControlPlaneContext): KubeObject[] {
  return [...cluster(context, { role: "main", storage: MAIN_STORAGE, quota: 8 * 1024 ** 3 }), ...etcdEvents(context)];
}

/** The one of them that starts empty, also where a Shoot has a past. */
export const etcdEvents = (context: ControlPlaneContext): KubeObject[] =>
  cluster(context, { role: "events", storage: "2Gi", quota: 1024 ** 3 });

/** The only member of one of a Shoot's etcds, as it is known to itself and its peers. */
export function member(cluster: "etcd-main" | "etcd-events", namespace: string) {
  const name = `${cluster}-0`;
  return { name, token: cluster, peer: `https://${name}.${cluster}-peer.${namespace}.svc:2380` };
}

/** Where an etcd has its volume, and on it its data. */
export const dataVolume = { mountPath: "/var/etcd/data", directory: "/var/etcd/data/new.etcd" } as const;

const MAIN_STORAGE = "10Gi";

/** The claim of etcd-main's only pod: Kubernetes names it `<template>-<set>-<ordinal>`. */
export const mainClaim = {
  name: "main-etcd-etcd-main-0",
  labels: { app: "etcd-statefulset", role: "main" },
  spec: claimSpec(MAIN_STORAGE),
} as const;

interface EtcdCluster {
  readonly role: "main" | "events";
  /** Size of the volume; a StatefulSet's volumes cannot be resized later. */
  readonly storage: string;
  /** Bytes after which etcd takes no more writes. */
  readonly quota: number;
}

function cluster(context: ControlPlaneContext, { role, storage, quota }: EtcdCluster): KubeObject[] {
  const { namespace, images } = context;
  const name = `etcd-${role}` as const;
  const selector = { app: "etcd-statefulset", role };
  const metadata = { namespace, labels: { ...selector, ...controlPlaneRole } };
  const files = mountFiles(context, {
    "ca-etcd": ["ca.crt"],
    "ca-etcd-peer": ["ca.crt"],
    "etcd-server": "all",
    "etcd-peer": "all",
  });
  const volume = `${role}-etcd`;
  const container = {
    name: "etcd",
    image: images.etcd,
    imagePullPolicy: "IfNotPresent",
    command: command(name, namespace, quota),
    ports: [
      { name: "client", containerPort: 2379 },
      { name: "peer", containerPort: 2380 },
      { name: "metrics", containerPort: 2381 },
    ],
    startupProbe: probe("/readyz", 2381, { periodSeconds: 1, failureThreshold: 300 }, "HTTP"),
    livenessProbe: probe("/livez", 2381, { periodSeconds: 10, failureThreshold: 6 }, "HTTP"),
    readinessProbe: probe("/readyz", 2381, { periodSeconds: 5, failureThreshold: 3 }, "HTTP"),
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
    service({ name: `${name}-client`, ...metadata }, { selector, ports: [servicePort("client", 2379)] }),
    // Peers find each other before they are ready.
    service(
      { name: `${name}-peer`, ...metadata },
      { clusterIP: "None", publishNotReadyAddresses: true, selector, ports: [servicePort("peer", 2380)] },
    ),
    {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name, ...metadata },
      spec: {
        replicas: replicasOf(context),
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

function command(name: "etcd-main" | "etcd-events", namespace: string, quota: number): string[] {
  const { name: self, token, peer } = member(name, namespace);
  return commandLine("etcd", {
    name: self,
    "data-dir": dataVolume.directory,
    "listen-client-urls": "https://0.0.0.0:2379",
    "advertise-client-urls": `https://${name}-client.${namespace}.svc:2379`,
    "client-cert-auth": true,
    "trusted-ca-file": secretPath("ca-etcd", "ca.crt"),
    "cert-file": secretPath("etcd-server", "tls.crt"),
    "key-file": secretPath("etcd-server", "tls.key"),
    "listen-peer-urls": "https://0.0.0.0:2380",
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `${self}=${peer}`,
    "initial-cluster-token": token,
    "peer-client-cert-auth": true,
    "peer-trusted-ca-file": secretPath("ca-etcd-peer", "ca.crt"),
    "peer-cert-file": secretPath("etcd-peer", "tls.crt"),
    "peer-key-file": secretPath("etcd-peer", "tls.key"),
    "listen-metrics-urls": "http://0.0.0.0:2381",
    "quota-backend-bytes": quota,
    "snapshot-count": 10_000,
  });
}

function service(metadata: KubeObject["metadata"], spec: object): KubeObject {
  return { apiVersion: "v1", kind: "Service", metadata, spec };
}

function servicePort(name: string, port: number) {
  return { name, port, protocol: "TCP", targetPort: port };
}
