import { commandLine } from "../command-line.ts";
import { replicasOf, type ControlPlaneContext } from "../context.ts";
import { mountFiles, secretPath, type ConfigFiles } from "../files.ts";
import { leavesLastWords, restricted } from "../workload.ts";
import { HEALTH_PORT, TUNNEL_AGENT, TUNNEL_AUDIENCE, TUNNEL_PORT, TUNNEL_SERVER, TUNNEL_SERVER_USER } from "./names.ts";
import { renderYaml } from "../../yaml.ts";

/** What the tunnel adds to the pod of the API server. */
export interface TunnelServer {
  /** The API server's own: which connections go through the tunnel. */
  readonly configuration: readonly ConfigFiles[];
  readonly initContainers: readonly object[];
  readonly volumes: readonly object[];
  /** Mounts of the API server's container. */
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * The server of the tunnel, beside the API server as Kubernetes describes it (docs: "Set up Konnectivity service"), and the
 * configuration that sends through it what is for nodes, pods and Services. Nothing for a Shoot without tunnel. A container
 * that starts before the API server and ends after it (Kubernetes 1.29): what the API server still answers while it ends goes
 * through.
 */
export function tunnelServer(context: ControlPlaneContext): TunnelServer | undefined {
  if (context.tunnel !== true) return undefined;
  const files = mountFiles(context, { [TUNNEL_SERVER]: "all", [TUNNEL_SERVER_USER]: ["kubeconfig"] });
  const server = {
    name: TUNNEL_SERVER,
    image: context.images.tunnelServer,
    imagePullPolicy: "IfNotPresent",
    restartPolicy: "Always",
    command: command(context),
    ports: [{ name: "tunnel", containerPort: TUNNEL_PORT }],
    livenessProbe: { httpGet: { path: "/healthz", port: HEALTH_PORT }, periodSeconds: 10, failureThreshold: 3 },
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    securityContext: restricted(),
    ...leavesLastWords,
    volumeMounts: [...files.volumeMounts, SOCKET.mount],
  };
  return {
    configuration: [EGRESS.configuration],
    initContainers: [server],
    volumes: [...files.volumes, { name: SOCKET.mount.name, emptyDir: {} }],
    volumeMounts: [SOCKET.mount],
    annotations: files.annotations,
  };
}

/** The API server's flag for the configuration, where there is one. */
export const egressFlags = ({ tunnel }: Pick<ControlPlaneContext, "tunnel">) => ({
  "egress-selector-config-file": tunnel === true ? `${EGRESS.configuration.mountPath}/${EGRESS.file}` : undefined,
});

/**
 * Agents show a token of their account, which the API server beside judges: no key of theirs has to be kept, renewed or
 * brought along. Both ends find out within a minute that the other is gone.
 */
function command(context: ControlPlaneContext): string[] {
  return commandLine("proxy-server", {
    mode: "grpc",
    "uds-name": SOCKET.path,
    "server-port": 0,
    "server-count": Math.max(replicasOf(context), 1),
    "agent-port": TUNNEL_PORT,
    "cluster-cert": secretPath(TUNNEL_SERVER, "tls.crt"),
    "cluster-key": secretPath(TUNNEL_SERVER, "tls.key"),
    "agent-namespace": "kube-system",
    "agent-service-account": TUNNEL_AGENT,
    "authentication-audience": TUNNEL_AUDIENCE,
    kubeconfig: secretPath(TUNNEL_SERVER_USER, "kubeconfig"),
    "keepalive-time": "30s",
    "health-port": HEALTH_PORT,
    "admin-port": 8133,
    v: 1,
  });
}

const SOCKET = {
  mount: { name: "konnectivity", mountPath: "/run/konnectivity" },
  path: "/run/konnectivity/server.sock",
} as const;

/** What is for etcd, and for webhooks and issuers by address, goes the direct way (upstream: the same three). */
const EGRESS = {
  file: "egress-selector-configuration.yaml",
  configuration: {
    name: "kube-apiserver-egress-selector-config",
    mountPath: "/etc/kubernetes/egress",
    data: {
      "egress-selector-configuration.yaml": renderYaml({
        apiVersion: "apiserver.k8s.io/v1beta1",
        kind: "EgressSelectorConfiguration",
        egressSelections: [
          {
            name: "cluster",
            connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: SOCKET.path } } },
          },
          ...["controlplane", "etcd"].map((name) => ({ name, connection: { proxyProtocol: "Direct" } })),
        ],
      }),
    },
  },
} as const;
