import { NAMESPACE_NAME_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { ETCD_CHECK } from "../etcd/check.ts";
import { PORTS as resourceManagerPorts, RESOURCE_MANAGER } from "../resource-manager/configuration.ts";
import { resourceManagerLabels } from "../resource-manager/workload.ts";
import { controlPlaneLabels, controlPlaneRole } from "../workload.ts";
import { TUNNEL_PORT } from "../tunnel/names.ts";
import { dns, outsideSeedPods, privateNetworks, publicNetworks, shootNetworks } from "./destinations.ts";
import { policy, podsWith, tcp, type Peer, type PodLabels } from "./policy.ts";

/** A server that pods of extensions may reach, too, by a label that names its Service and port as upstream does. */
export interface ReachableServer {
  readonly service: string;
  readonly port: number;
  readonly pods: PodLabels;
}

const apiServerPods = controlPlaneLabels("apiserver");
const etcdPods = (role: "main" | "events") => ({ app: "etcd-statefulset", role });
const backupPods = { app: "etcd-backup" };
const checkPods = { app: ETCD_CHECK };

/** The Shoot's API server. */
export const apiServer: ReachableServer = { service: "kube-apiserver", port: 443, pods: apiServerPods };

/** The Shoot's etcds. */
export const etcds: readonly ReachableServer[] = (["main", "events"] as const).map((role) => ({
  service: `etcd-${role}-client`,
  port: 2379,
  pods: etcdPods(role),
}));

/**
 * What the components that we deploy need. They are chosen by the labels that they have anyway, so that pods which run
 * already are not cut off.
 */
export function ownTraffic(context: ControlPlaneContext): KubeObject[] {
  const toApiServer = { peers: [podsWith(apiServerPods)], ports: tcp(apiServer.port) };
  const toResourceManager = { peers: [podsWith(resourceManagerLabels)], ports: tcp(resourceManagerPorts.webhooks) };
  const toEtcd = (role: "main" | "events") => ({ peers: [podsWith(etcdPods(role))], ports: tcp(2379) });
  return [
    policy(context, "control-plane-to-dns", { pods: controlPlaneRole, egress: [dns] }),
    policy(context, "kube-apiserver", {
      pods: apiServerPods,
      ingress: [
        { peers: [...outsideSeedPods(context), ...servants, ...callers], ports: tcp(apiServer.port) },
        // Agents of the tunnel connect from outside.
        ...(context.tunnel === true ? [{ peers: outsideSeedPods(context), ports: tcp(TUNNEL_PORT) }] : []),
      ],
      // Webhooks, issuers of tokens and aggregated APIs are where users have them; those of extensions are in the seed.
      egress: [
        toResourceManager,
        { peers: [extensions], ports: tcp(WEBHOOK_PORT) },
        toEtcd("main"),
        toEtcd("events"),
        shootNetworks(context),
        publicNetworks(context),
        privateNetworks(context),
      ],
    }),
    ...(["controller-manager", "scheduler"] as const).map((role) =>
      policy(context, `kube-${role}`, { pods: controlPlaneLabels(role), egress: [toApiServer] }),
    ),
    policy(context, RESOURCE_MANAGER, {
      pods: resourceManagerLabels,
      ingress: [{ peers: [podsWith(apiServerPods)], ports: tcp(resourceManagerPorts.webhooks) }],
    }),
    ...(["main", "events"] as const).map((role) => {
      const peers = { peers: [podsWith(etcdPods(role))], ports: tcp(2380) };
      const backup = role === "main" ? [podsWith(backupPods)] : [];
      const clients = [podsWith(apiServerPods), podsWith(checkPods), ...backup];
      return policy(context, `etcd-${role}`, {
        pods: etcdPods(role),
        ingress: [{ peers: clients, ports: tcp(2379) }, peers],
        egress: [peers],
      });
    }),
    policy(context, ETCD_CHECK, { pods: checkPods, egress: [toEtcd("main"), toEtcd("events")] }),
    // Object stores are public or private.
    policy(context, "etcd-backup", {
      pods: backupPods,
      egress: [toEtcd("main"), publicNetworks(context), privateNetworks(context)],
    }),
  ];
}

const servants: Peer[] = [
  podsWith(controlPlaneLabels("controller-manager")),
  podsWith(controlPlaneLabels("scheduler")),
];

/** Namespaces in which extensions' controllers run. */
const extensions: Peer = { namespaceSelector: { matchLabels: { [ROLE_LABEL]: "extension" } } };

/** Where the webhooks that extensions have in Shoots answer: the port of upstream's charts. */
const WEBHOOK_PORT = 10_250;

/** Namespaces of the seed whose pods call API servers of Shoots: our workers', the garden's and those of extensions. */
const callers: Peer[] = [
  {
    namespaceSelector: {
      matchExpressions: [{ key: NAMESPACE_NAME_LABEL, operator: "In", values: ["perennial", "garden"] }],
    },
  },
  extensions,
];
