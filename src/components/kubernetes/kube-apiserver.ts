import type { KubeObject } from "../../api/index.ts";
import { scheduledReplicasOf, type ControlPlaneContext } from "../context.ts";
import { mountFiles } from "../files.ts";
import { existingEtcd } from "../etcd/etcd.ts";
import { CLUSTER_INFO_PATH } from "../on-nodes/cluster-info.ts";
import { AUDIT, auditLogVolume } from "./audit.ts";
import { ENCRYPTION_CONFIGURATION } from "./encryption-configuration.ts";
import { kubeApiServerCommand, NODE_ADDRESS } from "./kube-apiserver-command.ts";
import { tunnelServer } from "../tunnel/server.ts";
import {
  controlPlaneLabels,
  controlPlanePod,
  controlPlaneRole,
  leavesLastWords,
  priorityClass,
  probe,
  restricted,
  webhookTarget,
} from "../workload.ts";
import { renderYaml } from "../../yaml.ts";

/** The Shoot's API server. */
export function kubeApiServer(context: ControlPlaneContext): KubeObject[] {
  const { namespace, images } = context;
  const labels = controlPlaneLabels("apiserver");
  const authentication = {
    name: "kube-apiserver-authentication",
    data: { "config.yaml": authenticationConfiguration(context) },
    mountPath: "/etc/kubernetes/authentication",
  };
  const tunnel = tunnelServer(context);
  const configuration = [authentication, AUDIT.policy, ...(tunnel?.configuration ?? [])];
  const files = mountFiles(context, secrets, configuration);
  const container = {
    name: "kube-apiserver",
    image: images.kubeApiServer,
    imagePullPolicy: "IfNotPresent",
    command: kubeApiServerCommand(context),
    ...(context.nodes && { env: [NODE_ADDRESS] }),
    ports: [{ name: "https", containerPort: 443 }],
    startupProbe: probe("/livez", 443, { periodSeconds: 1, failureThreshold: 180 }),
    livenessProbe: probe("/livez", 443, { periodSeconds: 10, failureThreshold: 3 }),
    readinessProbe: probe("/readyz", 443, { periodSeconds: 5, failureThreshold: 3 }),
    resources: { requests: { cpu: "50m", memory: "256Mi" } },
    securityContext: restricted("NET_BIND_SERVICE"),
    ...leavesLastWords,
    volumeMounts: [...files.volumeMounts, AUDIT.log, ...(tunnel?.volumeMounts ?? [])],
  };
  const spec = {
    ...controlPlanePod,
    priorityClassName: priorityClass.first,
    terminationGracePeriodSeconds: 30,
    ...(tunnel && { initContainers: tunnel.initContainers }),
    containers: [container],
    volumes: [...files.volumes, auditLogVolume, ...(tunnel?.volumes ?? [])],
  };
  const annotations = { ...files.annotations, ...tunnel?.annotations };
  return [
    ...configuration.map(({ name, data }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, labels: { ...labels, ...controlPlaneRole } },
      data,
    })),
    ...(context.nodes === undefined ? [existingEtcd(context)] : []),
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "kube-apiserver", namespace, labels: { ...labels, ...controlPlaneRole, ...webhookTarget } },
      spec: {
        replicas: scheduledReplicasOf(context),
        revisionHistoryLimit: 1,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        selector: { matchLabels: labels },
        template: { metadata: { labels: { ...labels, ...controlPlaneRole }, annotations }, spec },
      },
    },
  ];
}

const secrets = {
  "ca-client": ["ca.crt"],
  "ca-etcd": ["ca.crt"],
  "ca-front-proxy": ["ca.crt"],
  "ca-kubelet": ["ca.crt"],
  "kube-apiserver": "all",
  "kube-apiserver-etcd-client": "all",
  "kube-apiserver-kubelet": "all",
  "kube-aggregator": "all",
  "service-account-key": "all",
  [ENCRYPTION_CONFIGURATION.secret]: "all",
} as const;

/** Anonymous requests reach the health endpoints, for the kubelet's probes, where machines join by tokens what proves the cluster to them, and nothing else. */
function authenticationConfiguration({ shoot, nodes }: ControlPlaneContext): string {
  const minor = Number(shoot.spec.kubernetes.version.split(".")[1]);
  const paths = ["/livez", "/readyz", "/healthz", ...(nodes === undefined ? [] : [CLUSTER_INFO_PATH])];
  return renderYaml({
    apiVersion: `apiserver.config.k8s.io/${minor >= 34 ? "v1" : "v1beta1"}`,
    kind: "AuthenticationConfiguration",
    jwt: [],
    anonymous: { enabled: true, conditions: paths.map((path) => ({ path })) },
  });
}
