import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createKubeClient, renderKubeconfig } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import {
  apiServerCommand,
  controllerManagerCommand,
  etcdCommand,
  schedulerCommand,
  type ControlPlane,
} from "./control-plane.ts";
import { writeIfChanged } from "./private-file.ts";
import { createPki, type KeyPair, type Pki } from "./pki.ts";
import { writeWebhookClient } from "./webhook-client.ts";
import type { ClusterNetworks, Environment } from "../environment/environment.ts";
import { accepts, createPorts } from "../process/ports.ts";
import type { Processes } from "../process/processes.ts";
import { settleAll } from "../environment/settle.ts";

/** A control plane that is wanted on the host. */
export interface ClusterSpec {
  /** `garden` or `seed-<n>`. */
  readonly name: string;
  readonly networks: ClusterNetworks;
  /** Only where pods run. */
  readonly scheduler: boolean;
  /** The port of the API server where it is free. */
  readonly port: number;
}

/** A control plane that runs. */
export interface RunningCluster {
  readonly name: string;
  readonly networks: ClusterNetworks;
  readonly server: string;
  /** The administrator's kubeconfig, as a file. */
  readonly kubeconfig: string;
  readonly pki: Pki;
  readonly authority: KeyPair;
}

/** What control planes are made with. */
export interface ClusterDeps {
  readonly environment: Environment;
  readonly processes: Processes;
  readonly binaries: ControlPlane["binaries"];
  readonly log: Logger;
}

/**
 * Starts etcd, kube-apiserver, kube-controller-manager and, where wanted, kube-scheduler as processes of the host, and
 * returns when the API server serves. What runs unchanged is left alone.
 */
export async function startCluster(deps: ClusterDeps, spec: ClusterSpec): Promise<RunningCluster> {
  const { environment, processes, log } = deps;
  const { plane, kubeconfig, pki } = await prepare(deps, spec);
  const port =
    (name: keyof ControlPlane["ports"], host = "127.0.0.1") =>
    async () =>
      await accepts(host, plane.ports[name]);
  await processes.start({ ...etcdCommand(plane), ready: port("etcd") });
  await processes.start({
    ...apiServerCommand(plane),
    ready: async () => await serves(kubeconfig, log),
    readyTimeout: 120_000,
    grace: 3_000,
  });
  const rest = [
    processes.start({ ...controllerManagerCommand(plane), ready: port("kube-controller-manager") }),
    ...(spec.scheduler ? [processes.start({ ...schedulerCommand(plane), ready: port("kube-scheduler") })] : []),
  ];
  await settleAll(rest);
  const server = `https://${environment.gateway}:${plane.ports["kube-apiserver"]}`;
  return { name: spec.name, networks: spec.networks, server, kubeconfig, pki, authority: plane.authority };
}

/** The kubeconfig of a user of the cluster, by client certificate. */
export async function issueKubeconfig(
  cluster: Pick<RunningCluster, "pki" | "authority" | "server">,
  user: { readonly name: string; readonly commonName: string; readonly organization?: string },
): Promise<string> {
  const { certificate, key } = await cluster.pki.issue(cluster.authority, user);
  return renderKubeconfig({
    server: cluster.server,
    ca: cluster.authority.certificate,
    clientCert: certificate,
    clientKey: key,
  });
}

async function prepare({ environment, processes, binaries }: ClusterDeps, spec: ClusterSpec) {
  const { name, networks } = spec;
  const folder = join(environment.stateDir, "clusters", name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ports = await claimPorts(environment, processes, spec);
  const pki = createPki(join(folder, "pki"));
  const authority = await pki.authority("ca");
  const etcdAuthority = await pki.authority("ca-etcd");
  const hosts = [environment.gateway, "127.0.0.1", networks.apiServer, "localhost", ...inClusterNames];
  const cluster = { pki, authority, server: `https://${environment.gateway}:${ports["kube-apiserver"]}` };
  const asFile = async (file: string, user: Parameters<typeof issueKubeconfig>[1]) =>
    await writeIfChanged(file, await issueKubeconfig(cluster, user));
  const plane: ControlPlane = {
    ...{ name, folder, networks, binaries, ports, authority, address: environment.gateway },
    etcd: {
      authority: etcdAuthority,
      server: await pki.issue(etcdAuthority, { name: "etcd", commonName: "etcd", hosts: ["127.0.0.1", "localhost"] }),
      client: await pki.issue(etcdAuthority, { name: "etcd-client", commonName: "kube-apiserver" }),
    },
    server: await pki.issue(authority, { name: "kube-apiserver", commonName: "kube-apiserver", hosts }),
    kubeletClient: await pki.issue(authority, {
      ...{ name: "kubelet-client", commonName: "kube-apiserver-kubelet-client", organization: "system:masters" },
    }),
    serviceAccount: await pki.signingKey("service-account"),
    admissionConfigFile: await writeWebhookClient(folder, pki),
    kubeconfigs: {
      "kube-controller-manager": await asFile(
        join(folder, "kube-controller-manager.yaml"),
        component("kube-controller-manager"),
      ),
      "kube-scheduler": await asFile(join(folder, "kube-scheduler.yaml"), component("kube-scheduler")),
    },
  };
  await mkdir(join(environment.stateDir, "kubeconfigs"), { recursive: true, mode: 0o700 });
  const kubeconfig = await asFile(kubeconfigFile(environment, name), {
    ...{ name: "admin", commonName: "perennial:admin", organization: "system:masters" },
  });
  return { plane, kubeconfig, pki };
}

/** Where the administrator's kubeconfig of a cluster of the environment is kept. */
export function kubeconfigFile({ stateDir }: Pick<Environment, "stateDir">, cluster: string): string {
  return join(stateDir, "kubeconfigs", `${cluster}.yaml`);
}

const inClusterNames = [
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];

function component(name: string): { name: string; commonName: string } {
  return { name, commonName: `system:${name}` };
}

async function claimPorts(environment: Environment, processes: Processes, { name, port }: ClusterSpec) {
  const { claim } = createPorts(environment);
  const alive = new Set((await processes.list()).flatMap((process) => (process.running ? [process.name] : [])));
  const local = async (what: string, owner = what) =>
    await claim({ owner: `${name}/${what}`, host: "127.0.0.1", running: alive.has(`${name}-${owner}`) });
  return {
    etcd: await local("etcd"),
    "etcd-peer": await local("etcd-peer", "etcd"),
    "kube-apiserver": await claim({
      ...{ owner: `${name}/kube-apiserver`, host: environment.gateway, preferred: port },
      running: alive.has(`${name}-kube-apiserver`),
    }),
    "kube-controller-manager": await local("kube-controller-manager"),
    "kube-scheduler": await local("kube-scheduler"),
  };
}

/** True when the API server serves an authenticated list: /readyz says so too early. */
async function serves(kubeconfig: string, log: Logger): Promise<boolean> {
  const client = createKubeClient({ file: kubeconfig }, { log });
  try {
    await client.get("/readyz");
    await client.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=1");
    await client.get("/api/v1/namespaces/default");
    return true;
  } finally {
    await client.close();
  }
}
