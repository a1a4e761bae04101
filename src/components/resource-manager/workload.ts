import type { KubeObject } from "../../api/index.ts";
import { destinationLabel, serviceAccessLabel } from "../../api/labels.ts";
import { controlPlaneRole, leavesLastWords, probe, restricted, unprivilegedPod } from "../workload.ts";
import { PORTS, RESOURCE_MANAGER, type Ports } from "./configuration.ts";

/** What the pods of a resource manager are made of. */
export interface ResourceManagerPods {
  readonly namespace: string;
  readonly image: string;
  readonly replicas: number;
  readonly priorityClassName: string;
  readonly configMap: string;
  readonly configuration: string;
  /** Where the configuration has it listen, if that is another place than usual. */
  readonly ports?: Ports;
  /** Volumes, mounts and checksums of all files, the configuration's among them. */
  readonly files: { readonly volumes: object[]; readonly volumeMounts: object[]; readonly annotations: object };
}

/** Labels of its objects and pods. */
export const resourceManagerLabels = { app: RESOURCE_MANAGER };

/** Where the configuration is mounted. */
export const CONFIGURATION_PATH = "/etc/gardener-resource-manager-config";

/** Upstream's resource manager as it is published: its account, configuration and pods, and the way to its webhooks. */
export function resourceManagerObjects(o: ResourceManagerPods): KubeObject[] {
  const { ports = PORTS } = o;
  const metadata = {
    name: RESOURCE_MANAGER,
    namespace: o.namespace,
    labels: { ...resourceManagerLabels, ...controlPlaneRole },
  };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { ...metadata, name: o.configMap },
      data: { "config.yaml": o.configuration },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: {
        type: "ClusterIP",
        selector: resourceManagerLabels,
        ports: [
          { name: "metrics", port: ports.metrics, protocol: "TCP", targetPort: ports.metrics },
          { name: "health", port: ports.health, protocol: "TCP", targetPort: ports.health },
          { name: "server", port: 443, protocol: "TCP", targetPort: ports.webhooks },
        ],
      },
    },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: {
        maxUnavailable: 1,
        selector: { matchLabels: resourceManagerLabels },
        unhealthyPodEvictionPolicy: "AlwaysAllow",
      },
    },
    { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: deploymentOf(o) },
  ];
}

function deploymentOf({ image, replicas, priorityClassName, files, ports = PORTS }: ResourceManagerPods) {
  return {
    replicas,
    revisionHistoryLimit: 2,
    selector: { matchLabels: resourceManagerLabels },
    template: {
      metadata: {
        labels: { ...resourceManagerLabels, ...controlPlaneRole, ...reach },
        annotations: files.annotations,
      },
      spec: {
        ...unprivilegedPod,
        automountServiceAccountToken: true,
        serviceAccountName: RESOURCE_MANAGER,
        priorityClassName,
        containers: [containerOf(image, ports, files.volumeMounts)],
        volumes: files.volumes,
      },
    },
  };
}

/** What the policies of a Shoot's namespace let it reach: the seed's API server, and the Shoot's. */
const reach = {
  [destinationLabel("to-runtime-apiserver")]: "allowed",
  [serviceAccessLabel("to-kube-apiserver-tcp-443")]: "allowed",
};

const SOON = { periodSeconds: 1, failureThreshold: 15, timeoutSeconds: 2 };

function containerOf(image: string, ports: Ports, volumeMounts: readonly object[]) {
  return {
    name: RESOURCE_MANAGER,
    image,
    imagePullPolicy: "IfNotPresent",
    args: [`--config=${CONFIGURATION_PATH}/config.yaml`],
    ports: [
      { name: "metrics", containerPort: ports.metrics },
      { name: "health", containerPort: ports.health },
      { name: "server", containerPort: ports.webhooks },
    ],
    livenessProbe: probe("/healthz", ports.health, { periodSeconds: 10, failureThreshold: 6 }, "HTTP"),
    // Flows wait for it, and a first look is often a moment too early.
    readinessProbe: probe("/readyz", ports.health, SOON, "HTTP"),
    resources: { requests: { cpu: "10m", memory: "48Mi" } },
    securityContext: restricted(),
    ...leavesLastWords,
    volumeMounts,
  };
}
