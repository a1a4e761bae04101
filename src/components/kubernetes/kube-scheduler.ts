import type { KubeObject } from "../../api/index.ts";
import { commandLine, featureGates } from "../command-line.ts";
import { scheduledReplicasOf, type ControlPlaneContext } from "../context.ts";
import { mountFiles, secretPath } from "../files.ts";
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
import { renderYaml } from "../../yaml.ts";

const kubeconfig = secretPath("kube-scheduler", "kubeconfig");

/** What gives the Shoot's pods their nodes. */
export function kubeScheduler(context: ControlPlaneContext): KubeObject[] {
  const { namespace, images, shoot } = context;
  const labels = controlPlaneLabels("scheduler");
  const mountPath = "/var/lib/kube-scheduler-config";
  const config = { name: "kube-scheduler-config", data: { "config.yaml": configuration }, mountPath };
  const files = mountFiles(context, { "kube-scheduler": "all", "kube-scheduler-server": "all" }, [config]);
  const container = {
    name: "kube-scheduler",
    image: images.kubeScheduler,
    imagePullPolicy: "IfNotPresent",
    command: commandLine("kube-scheduler", {
      config: `${mountPath}/config.yaml`,
      "authentication-kubeconfig": kubeconfig,
      "authorization-kubeconfig": kubeconfig,
      "feature-gates": featureGates(shoot.spec.kubernetes.kubeScheduler?.featureGates),
      "secure-port": 10259,
      "tls-cert-file": secretPath("kube-scheduler-server", "tls.crt"),
      "tls-private-key-file": secretPath("kube-scheduler-server", "tls.key"),
    }),
    ports: [{ name: "metrics", containerPort: 10259 }],
    livenessProbe: probe("/healthz", 10259, { periodSeconds: 10, failureThreshold: 6 }),
    readinessProbe: probe("/healthz", 10259, { periodSeconds: 5, failureThreshold: 3 }),
    resources: { requests: { cpu: "10m", memory: "48Mi" } },
    securityContext: restricted(),
    ...leavesLastWords,
    volumeMounts: files.volumeMounts,
  };
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: config.name, namespace, labels: { ...labels, ...controlPlaneRole } },
      data: config.data,
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "kube-scheduler", namespace, labels: { ...labels, ...controlPlaneRole, ...webhookTarget } },
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

const configuration = renderYaml({
  apiVersion: "kubescheduler.config.k8s.io/v1",
  kind: "KubeSchedulerConfiguration",
  clientConnection: { kubeconfig },
  enableProfiling: false,
  leaderElection: { leaderElect: true },
});
