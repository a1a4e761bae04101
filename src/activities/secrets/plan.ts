import {
  CLUSTER_AUTOSCALER,
  ENCRYPTION_KEY_SECRET,
  EXPOSED_ADMIN,
  exposureOf,
  internalApiServerName,
  MACHINE_CONTROLLER_MANAGER,
  nameOnMachines,
  networksOf,
  nodeObjectName,
  RESOURCE_MANAGER,
  urlHost,
  RESOURCE_MANAGER_SERVER,
  TUNNEL_SERVER,
  TUNNEL_SERVER_USER,
  type ControlPlaneContext,
} from "../../components/index.ts";
import type { CertificateRequest } from "./pki.ts";

/** The certificate authorities of a Shoot by Secret name, and their subjects. */
export const authorities = {
  ca: "kubernetes",
  "ca-client": "kubernetes-client",
  "ca-etcd": "etcd",
  "ca-etcd-peer": "etcd-peer",
  "ca-front-proxy": "front-proxy",
  "ca-kubelet": "kubelet",
} as const;

/**
 * Names of the Secrets that are made once: with another one in its place, a control plane would lock out every machine
 * and user, or could not read what it has stored.
 */
export const lastingSecrets: readonly string[] = [
  ...Object.keys(authorities),
  "service-account-key",
  ENCRYPTION_KEY_SECRET,
];

/** Name of a certificate authority's Secret. */
export type AuthorityName = keyof typeof authorities;

/** A certificate to be kept in a Secret of its own. */
export interface CertificatePlan {
  readonly name: string;
  readonly authority: AuthorityName;
  readonly request: CertificateRequest;
  /** Where a kubeconfig with this certificate leads; without it, the Secret has none. */
  readonly kubeconfig?: { readonly server: string; readonly tlsServerName?: string };
}

/** Every certificate that a Shoot's control plane needs, as far as its addresses are known. */
export function certificatesOf(context: ControlPlaneContext): CertificatePlan[] {
  const managing = context.managesResources === true ? resourceManager(context) : [];
  const machines = context.machines === undefined ? [] : machinePrograms;
  const tunnel = context.tunnel === true ? tunnelServer(context) : [];
  const kubelets = (context.nodes ?? []).map(({ name }) => kubelet(name));
  return [...servers(context), ...clients(), ...kubeconfigs(context), ...kubelets, ...managing, ...machines, ...tunnel];
}

/** Names of the Secrets whose certificates are of one node of the control plane alone. */
export const nodeCertificateNames = (node: string): string[] =>
  [
    apiServerPlan(nodeObjectName("kube-apiserver", node), []),
    ...etcdPlans({ client: [], peer: [], node }),
    kubelet(node),
  ].map(({ name }) => name);

function servers(context: ControlPlaneContext): CertificatePlan[] {
  const { namespace, nodes } = context;
  const apiServer = [
    ...serviceNames("kube-apiserver", namespace),
    ...serviceNames("kubernetes", "default"),
    networksOf(context).apiServer,
    ...knownHosts(context),
    ...localhost,
  ];
  const ofServers =
    nodes === undefined
      ? [apiServerPlan("kube-apiserver", apiServer), ...etcdPlans(etcdsInSeed(namespace))]
      : nodes.flatMap(({ name, addresses }) => [
          apiServerPlan(nodeObjectName("kube-apiserver", name), [
            ...apiServer,
            name,
            ...addresses,
            ...between(context),
          ]),
          ...etcdPlans({ client: [name, ...addresses], peer: [name, ...addresses], node: name }),
        ]);
  return [
    ...ofServers,
    ...["kube-controller-manager", "kube-scheduler"].map((name) => ({
      name: `${name}-server`,
      authority: "ca" as const,
      request: {
        commonName: name,
        hosts: [...serviceNames(name, namespace), ...localhost],
        usages: ["server"] as const,
      },
    })),
  ];
}

const apiServerPlan = (name: string, hosts: readonly string[]): CertificatePlan => ({
  name,
  authority: "ca",
  request: { commonName: "kube-apiserver", hosts, usages: ["server"] },
});

/** Where an etcd is found, by clients and by its peers; `node` where it is one member of several, each with its own certificates. */
interface EtcdHosts {
  readonly client: readonly string[];
  readonly peer: readonly string[];
  readonly node?: string;
}

function etcdsInSeed(namespace: string): EtcdHosts {
  const etcds = ["etcd-main", "etcd-events"];
  return {
    client: etcds.flatMap((name) => serviceNames(`${name}-client`, namespace)),
    peer: etcds.flatMap((name) => serviceNames(`${name}-peer`, namespace).map((service) => `*.${service}`)),
  };
}

/** etcd is a client of itself and of its peers, with its server certificate. */
function etcdPlans({ client, peer, node }: EtcdHosts): CertificatePlan[] {
  const called = (name: string) => (node === undefined ? name : nodeObjectName(name, node));
  return [
    {
      name: called("etcd-server"),
      authority: "ca-etcd",
      request: { commonName: "etcd-server", hosts: [...client, ...localhost], usages: ["server", "client"] },
    },
    {
      name: called("etcd-peer"),
      authority: "ca-etcd-peer",
      request: { commonName: "etcd-peer", hosts: [...peer, ...localhost], usages: ["server", "client"] },
    },
  ];
}

/** What an extension has put in front of nodes; where it leads to these by their own addresses, each server has its own already. */
function between({ nodes = [], ingress = [] }: ControlPlaneContext): string[] {
  const own = new Set(nodes.flatMap(({ addresses }) => addresses));
  return ingress.filter((address) => !own.has(address));
}

/** Where the API server is found from outside, as far as that is known. */
function knownHosts({ apiServerAddress, internalDomain, externalDomain }: ControlPlaneContext): string[] {
  return [apiServerAddress, ...[internalDomain, externalDomain].map((domain) => domain && `api.${domain}`)].filter(
    (host) => host !== undefined,
  );
}

function clients(): CertificatePlan[] {
  return [
    { name: "kube-apiserver-etcd-client", authority: "ca-etcd", request: client("kube-apiserver") },
    { name: "kube-apiserver-kubelet", authority: "ca-kubelet", request: client("system:kube-apiserver:kubelet") },
    { name: "kube-aggregator", authority: "ca-front-proxy", request: client("kube-aggregator") },
  ];
}

/**
 * Our own way in ends at the load balancer; what runs beside the API server uses its Service. On a node, all use the API server
 * of that node.
 */
function kubeconfigs(context: ControlPlaneContext): CertificatePlan[] {
  const { namespace, nodes } = context;
  const apiServerAddress = nodes === undefined ? context.apiServerAddress : undefined;
  const admin = client("gardener", "system:masters");
  const tlsServerName = internalApiServerName(context);
  const beside = { server: nodes === undefined ? "https://kube-apiserver" : "https://localhost" };
  return [
    {
      name: "kube-controller-manager",
      authority: "ca-client",
      request: client("system:kube-controller-manager"),
      kubeconfig: beside,
    },
    { name: "kube-scheduler", authority: "ca-client", request: client("system:kube-scheduler"), kubeconfig: beside },
    {
      name: "gardener",
      authority: "ca-client",
      request: admin,
      kubeconfig: nodes === undefined ? { server: `https://kube-apiserver.${namespace}.svc` } : beside,
    },
    ...(nodes === undefined || exposureOf(context).by === "none"
      ? []
      : [{ name: EXPOSED_ADMIN, authority: "ca-client" as const, request: admin, kubeconfig: exposedServer(context) }]),
    ...(apiServerAddress === undefined || tlsServerName === undefined
      ? []
      : [
          {
            name: "gardener-internal",
            authority: "ca-client" as const,
            request: admin,
            kubeconfig: { server: `https://${apiServerAddress}:443`, tlsServerName },
          },
        ]),
  ];
}

/** The name of the Shoot's domain; without one, what its extension says first. */
function exposedServer(context: ControlPlaneContext) {
  const host = internalApiServerName(context) ?? context.ingress?.[0] ?? nameOnMachines(context);
  return { server: `https://${urlHost(host)}` };
}

/** The first kubelets of a control plane begin before there is an API server that could sign for them. */
function kubelet(node: string): CertificatePlan {
  return {
    name: nodeObjectName("kubelet", node),
    authority: "ca-client",
    request: client(`system:node:${node}`, "system:nodes"),
    kubeconfig: { server: "https://localhost" },
  };
}

/** The resource manager acts in the Shoot as an administrator, by a group that loses its rights with its binding. */
function resourceManager({ namespace }: ControlPlaneContext): CertificatePlan[] {
  const hosts = serviceNames(RESOURCE_MANAGER, namespace);
  return [
    {
      name: RESOURCE_MANAGER,
      authority: "ca-client",
      request: client(RESOURCE_MANAGER, "gardener.cloud:system:admins"),
      kubeconfig: { server: "https://kube-apiserver" },
    },
    {
      name: RESOURCE_MANAGER_SERVER,
      authority: "ca",
      request: { commonName: RESOURCE_MANAGER, hosts, usages: ["server"] },
    },
  ];
}

/** Agents find the tunnel's server under the API server's names; it asks the API server of its own pod who they are. */
function tunnelServer(context: ControlPlaneContext): CertificatePlan[] {
  const hosts = knownHosts(context);
  return [
    { name: TUNNEL_SERVER, authority: "ca", request: { commonName: TUNNEL_SERVER, hosts, usages: ["server"] } },
    {
      name: TUNNEL_SERVER_USER,
      authority: "ca-client",
      request: client(TUNNEL_SERVER_USER),
      kubeconfig: { server: "https://localhost" },
    },
  ];
}

/** What manages machines acts in the Shoot under its own name, with what the component `machine-access` gives it. */
const machinePrograms: readonly CertificatePlan[] = [MACHINE_CONTROLLER_MANAGER, CLUSTER_AUTOSCALER].map((name) => ({
  name,
  authority: "ca-client",
  request: client(name),
  kubeconfig: { server: "https://kube-apiserver" },
}));

const localhost = ["localhost", "127.0.0.1"];

function client(commonName: string, ...organizations: string[]): CertificateRequest {
  return { commonName, organizations, usages: ["client"] };
}

function serviceNames(name: string, namespace: string): string[] {
  return [name, `${name}.${namespace}`, `${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}
