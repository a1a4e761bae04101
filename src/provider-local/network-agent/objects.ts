import type { KubeObject } from "../../api/index.ts";
import { IMAGE_CONTENT_ANNOTATION } from "../../api/annotations.ts";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { AGENT_PROGRAM } from "../../local/image/agent-program.ts";
import { AGENT_HEALTH_PORT, agentPlaces, NETWORK_AGENT } from "./places.ts";
import { agentAccount } from "./rights.ts";

/** The image that agents run out of. */
export interface AgentImage {
  readonly name: string;
  /** Changes with its content where the name stays: the pods are replaced then. */
  readonly content: string;
}

/** What puts a network agent onto each node, whatever taints it has, before anything else has a network there. */
export function networkAgentObjects(image: AgentImage, clusterPodCIDR: string): KubeObject[] {
  const labels = { app: NETWORK_AGENT };
  return [
    ...agentAccount(),
    {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: NETWORK_AGENT, namespace: SYSTEM_NAMESPACE, labels },
      spec: {
        selector: { matchLabels: labels },
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%" } },
        template: {
          metadata: { labels, annotations: { [IMAGE_CONTENT_ANNOTATION]: image.content } },
          spec: {
            hostNetwork: true,
            priorityClassName: "system-node-critical",
            serviceAccountName: NETWORK_AGENT,
            tolerations: [{ operator: "Exists" }],
            terminationGracePeriodSeconds: 10,
            containers: [container(image, clusterPodCIDR)],
            volumes,
          },
        },
      },
    },
  ];
}

const { cni, settings, kubeconfig, lock } = agentPlaces;

const volumes = [
  { name: "cni", hostPath: { path: cni.host, type: "DirectoryOrCreate" } },
  { name: "settings", hostPath: { path: settings.host, type: "Directory" } },
  { name: "kubeconfig", hostPath: { path: kubeconfig.host, type: "File" } },
  { name: "lock", hostPath: { path: lock.host, type: "FileOrCreate" } },
];

/** Root, because all these files are root's; of root's powers, that over the network alone. */
function container({ name: image }: AgentImage, clusterPodCIDR: string) {
  const probe = { httpGet: { path: "/readyz", port: AGENT_HEALTH_PORT } };
  return {
    name: NETWORK_AGENT,
    image,
    imagePullPolicy: "IfNotPresent",
    command: [AGENT_PROGRAM],
    env: [
      { name: "MALLOC_ARENA_MAX", value: "2" },
      { name: "PERENNIAL_NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } },
      { name: "PERENNIAL_POD_NETWORK", value: clusterPodCIDR },
      { name: "PERENNIAL_HEALTH_PORT", value: String(AGENT_HEALTH_PORT) },
    ],
    readinessProbe: { ...probe, periodSeconds: 5 },
    // The address of the API server is read at the start: one that is not reached for five minutes may have another.
    livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 30 },
    resources: { requests: { cpu: "10m", memory: "64Mi" } },
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"], add: ["NET_ADMIN", "NET_RAW"] },
      seccompProfile: { type: "RuntimeDefault" },
    },
    volumeMounts: [
      { name: "cni", mountPath: cni.pod },
      { name: "settings", mountPath: settings.pod },
      { name: "kubeconfig", mountPath: kubeconfig.pod, readOnly: true },
      { name: "lock", mountPath: lock.pod },
    ],
  };
}
