import type { KubeObject } from "../../api/index.ts";
import { commandLine, featureGates, literal, type Flags } from "../command-line.ts";
import { poolsOf, scheduledReplicasOf, type ControlPlaneContext } from "../context.ts";
import { mountFiles, secretPath } from "../files.ts";
import { networksOf } from "../networks.ts";
import {
  controlPlaneLabels,
  controlPlaneRole,
  leavesLastWords,
  priorityClass,
  probe,
  restricted,
  unprivilegedPod,
  webhookTarget,
} from "../workload.ts";

/** The controllers of the Shoot's built-in APIs. */
export function kubeControllerManager(context: ControlPlaneContext): KubeObject[] {
  const { namespace, images } = context;
  const labels = controlPlaneLabels("controller-manager");
  const files = mountFiles(context, secrets);
  const container = {
    name: "kube-controller-manager",
    image: images.kubeControllerManager,
    imagePullPolicy: "IfNotPresent",
    command: command(context),
    ports: [{ name: "metrics", containerPort: 10257 }],
    livenessProbe: probe("/healthz", 10257, { periodSeconds: 10, failureThreshold: 6 }),
    readinessProbe: probe("/healthz", 10257, { periodSeconds: 5, failureThreshold: 3 }),
    resources: { requests: { cpu: "25m", memory: "64Mi" } },
    securityContext: restricted(),
    ...leavesLastWords,
    volumeMounts: files.volumeMounts,
  };
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {
        name: "kube-controller-manager",
        namespace,
        labels: { ...labels, ...controlPlaneRole, ...webhookTarget },
      },
      spec: {
        replicas: scheduledReplicasOf(context),
        revisionHistoryLimit: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels: { ...labels, ...controlPlaneRole }, annotations: files.annotations },
          spec: {
            ...unprivilegedPod,
            priorityClassName: priorityClass.second,
            containers: [container],
            volumes: files.volumes,
          },
        },
      },
    },
  ];
}

const secrets = {
  ca: ["ca.crt"],
  "ca-client": "all",
  "ca-kubelet": "all",
  "kube-controller-manager": "all",
  "kube-controller-manager-server": "all",
  "service-account-key": "all",
} as const;

function command(context: ControlPlaneContext): string[] {
  const kubeconfig = secretPath("kube-controller-manager", "kubeconfig");
  const config = context.shoot.spec.kubernetes.kubeControllerManager;
  return commandLine("kube-controller-manager", {
    kubeconfig,
    "authentication-kubeconfig": kubeconfig,
    "authorization-kubeconfig": kubeconfig,
    "cluster-name": context.namespace,
    ...nodeNetwork(context),
    ...signing,
    "concurrent-deployment-syncs": 50,
    "concurrent-replicaset-syncs": 50,
    controllers: "*,bootstrapsigner,tokencleaner",
    "feature-gates": featureGates(config?.featureGates),
    ...podAutoscaler(config?.horizontalPodAutoscaler),
    "leader-elect": true,
    "node-monitor-grace-period": config?.nodeMonitorGracePeriod ?? "40s",
    profiling: false,
    "root-ca-file": secretPath("ca", "ca.crt"),
    "secure-port": 10257,
    "service-account-private-key-file": secretPath("service-account-key", "id_rsa"),
    "tls-cert-file": secretPath("kube-controller-manager-server", "tls.crt"),
    "tls-private-key-file": secretPath("kube-controller-manager-server", "tls.key"),
    "use-service-account-credentials": true,
  });
}

function nodeNetwork(context: ControlPlaneContext): Flags {
  const { pods, services } = networksOf(context);
  if (poolsOf(context).length === 0) return { "allocate-node-cidrs": false, "service-cluster-ip-range": services };
  return {
    "allocate-node-cidrs": true,
    "cluster-cidr": pods,
    "node-cidr-mask-size": context.shoot.spec.kubernetes.kubeControllerManager?.nodeCIDRMaskSize ?? 24,
    "service-cluster-ip-range": services,
  };
}

/** Machines and users get certificates of the client CA, kubelets' servers those of the kubelet CA. */
const signing: Flags = {
  ...signer("kube-apiserver-client", "ca-client"),
  ...signer("kubelet-client", "ca-client"),
  ...signer("kubelet-serving", "ca-kubelet"),
  ...signer("legacy-unknown", "ca-client"),
  "cluster-signing-duration": "720h",
};

function signer(name: string, authority: string): Flags {
  return {
    [`cluster-signing-${name}-cert-file`]: secretPath(authority, "ca.crt"),
    [`cluster-signing-${name}-key-file`]: secretPath(authority, "ca.key"),
  };
}

/** What the user leaves out is said with Kubernetes' own value: webhooks find each of these flags. */
function podAutoscaler(config: Readonly<Record<string, unknown>> = {}): Flags {
  const value = (name: string, otherwise: string | number) => {
    const given = config[name];
    if (typeof given === "string") return literal(given);
    return typeof given === "number" ? given : otherwise;
  };
  return {
    "horizontal-pod-autoscaler-cpu-initialization-period": value("cpuInitializationPeriod", "5m0s"),
    "horizontal-pod-autoscaler-downscale-stabilization": value("downscaleStabilization", "5m0s"),
    "horizontal-pod-autoscaler-initial-readiness-delay": value("initialReadinessDelay", "30s"),
    "horizontal-pod-autoscaler-sync-period": value("syncPeriod", "15s"),
    "horizontal-pod-autoscaler-tolerance": value("tolerance", 0.1),
  };
}
