import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createKubeClient,
  CustomResourceDefinition,
  Namespace,
  renderKubeconfig,
  type KubeClient,
} from "../../src/kube/index.ts";
import { makeCertificates, type Certificates } from "./certificates.ts";
import { spawnChild, type Child } from "./child.ts";
import { freePorts } from "./free-ports.ts";
import { seconds } from "./patience.ts";
import { late, linkFlags, startSlowLink, type Late } from "./slow-link.ts";
import { claimDirectory, controlPlanePrefix, sweepLeftovers } from "./leftovers.ts";

/** A real etcd and kube-apiserver on loopback, seen as a cluster administrator. */
export interface ControlPlane {
  readonly kubeconfig: string;
  readonly kubeconfigFile: string;
  readonly client: KubeClient;
  /** A kubeconfig for the same administrator with a bearer token instead of a certificate. */
  readonly tokenKubeconfig: string;
  /** A kubeconfig for a user whom the API server knows by a token. */
  kubeconfigOf(user: User): string;
  /** Its authority, which signs for servers and clients, in PEM. */
  readonly authority: { readonly certificate: string; readonly key: string };
  readonly etcdUrl: string;
  /** Starts another API server on the same etcd, at the same port of another address of loopback. It goes when the control plane does. */
  addApiServer(address: string): Promise<ApiServer>;
  /** SIGKILLs the API server; etcd and its data stay. */
  kill(): Promise<void>;
  /** Starts the API server again at the same address, with an empty watch cache. */
  restart(): Promise<void>;
  /** Runs `etcdctl` against the control plane's etcd and returns its output. */
  etcdctl(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** One of several API servers on one etcd. */
export type ApiServer = Pick<ControlPlane, "kill" | "restart">;

/** How a control plane is to differ from the usual one. */
export interface ControlPlaneOptions {
  /** Further flags of kube-apiserver. */
  readonly flags?: readonly string[];
  /** Names and addresses, besides those of loopback, for which its API servers have a certificate. */
  readonly hosts?: readonly string[];
  /** The snapshot of another control plane's etcd, of which this one is a restored copy. */
  readonly snapshot?: string;
}

/** A part of Kubernetes, by its name as admission sees it and with all rights; Alice and what makes machines, who may do nothing yet; or a process of ours. */
export type User = keyof typeof users;

/** Starts a control plane of its own in 3 s or so. It dies with this process. */
export async function startControlPlane(o: ControlPlaneOptions = {}): Promise<ControlPlane> {
  await sweepLeftovers();
  const directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  const [port = 0, etcdPort = 0, peerPort = 0] = await freePorts(3);
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const server = `https://127.0.0.1:${port}`;
  const certificates = await makeCertificates(o.hosts);
  const kubeconfig = renderKubeconfig({
    server,
    ca: certificates.ca,
    clientCert: certificates.adminCert,
    clientKey: certificates.adminKey,
  });
  const kubeconfigFile = await writeFiles(directory, certificates, kubeconfig);
  const client = createKubeClient({ kubeconfig }, { userAgent: "perennial-test" });

  const startApiServer = async (address = "127.0.0.1"): Promise<Child> => {
    const flags = o.flags ?? [];
    const child = await (late === undefined
      ? spawnChild(directory, "kube-apiserver", [...apiServerFlags({ directory, port, etcdUrl, address }), ...flags])
      : spawnBehindLink({ late, directory, port, etcdUrl, address, certificates, flags }));
    const own = kubeconfig.replace(server, `https://${address}:${port}`);
    const asking = address === "127.0.0.1" ? client : createKubeClient({ kubeconfig: own });
    await ready(asking, child);
    if (asking !== client) await asking.close();
    return child;
  };
  const others: ApiServer[] = [];

  if (o.snapshot !== undefined) await restoreSnapshot(directory, o.snapshot);
  const etcd = await spawnChild(directory, "etcd", etcdFlags(directory, etcdUrl, `http://127.0.0.1:${peerPort}`));
  let apiServer = await startApiServer().catch(async (error: unknown) => {
    await etcd.kill();
    throw error;
  });

  return {
    kubeconfig,
    kubeconfigFile,
    client,
    tokenKubeconfig: renderKubeconfig({ server, ca: certificates.ca, token: adminToken }),
    kubeconfigOf: (user) => renderKubeconfig({ server, ca: certificates.ca, token: tokenOf(user) }),
    authority: { certificate: certificates.ca, key: certificates.caKey },
    etcdUrl,
    async addApiServer(address) {
      let child = await startApiServer(address);
      const other = {
        kill: () => child.kill(),
        async restart() {
          await child.kill();
          child = await startApiServer(address);
        },
      };
      others.push(other);
      return other;
    },
    kill: () => apiServer.kill(),
    async restart() {
      await apiServer.kill();
      apiServer = await startApiServer();
    },
    async etcdctl(...args) {
      const child = await spawnChild(directory, "etcdctl", [`--endpoints=${etcdUrl}`, ...args]);
      await child.exited;
      return child.output();
    },
    async stop() {
      await client.close();
      await Promise.all([apiServer, ...others].map((one) => one.kill()));
      await etcd.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const dataOf = (directory: string): string => join(directory, "etcd");

async function restoreSnapshot(directory: string, snapshot: string): Promise<void> {
  const restore = await spawnChild(directory, "etcdutl", [
    "snapshot",
    "restore",
    snapshot,
    "--data-dir",
    dataOf(directory),
  ]);
  await restore.exited;
}

const adminToken = "perennial-test-administrator";

/** User, uid and groups of a seed's service account in the garden. */
function seedIdentity(seed: string): string {
  const groups = "system:serviceaccounts,system:serviceaccounts:perennial-seeds";
  return `system:serviceaccount:perennial-seeds:${seed},${seed},"${groups}"`;
}

/** User names, uids and groups, as Kubernetes gives them. */
const users = {
  "kube-controller-manager": "system:kube-controller-manager,kcm,system:masters",
  kubelet: 'system:node:node,node,"system:masters,system:nodes"',
  alice: "alice,alice",
  "machine-controller-manager": "machine-controller-manager,machines",
  manager: "system:serviceaccount:perennial:manager,manager",
  "cluster-api": "system:serviceaccount:perennial:cluster-api,cluster-api",
  "seed-1": seedIdentity("seed-1"),
  "seed-2": seedIdentity("seed-2"),
} as const;

const tokenOf = (user: User): string => `perennial-test-${user}`;

const tokens = [
  `${adminToken},admin,admin,system:masters`,
  ...Object.entries(users).map(([user, identity]) => `${tokenOf(user as User)},${identity}`),
];

async function writeFiles(directory: string, certificates: Certificates, kubeconfig: string): Promise<string> {
  const { ca, serverCert, serverKey, serviceAccountKey } = certificates;
  const kubeconfigFile = join(directory, "kubeconfig.yaml");
  await mkdir(join(directory, "etcd"), { mode: 0o700 });
  await Promise.all([
    writeFile(join(directory, "ca.crt"), ca),
    writeFile(join(directory, "server.crt"), serverCert),
    writeFile(join(directory, "server.key"), serverKey),
    writeFile(join(directory, "service-account.key"), serviceAccountKey),
    writeFile(join(directory, "tokens.csv"), `${tokens.join("\n")}\n`),
    writeFile(kubeconfigFile, kubeconfig, { mode: 0o600 }),
  ]);
  return kubeconfigFile;
}

function etcdFlags(directory: string, url: string, peerUrl: string): string[] {
  return [
    `--data-dir=${dataOf(directory)}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    "--unsafe-no-fsync",
    "--log-level=error",
  ];
}

interface ServerPlace {
  readonly directory: string;
  readonly port: number;
  readonly etcdUrl: string;
  readonly address: string;
}

interface ServerBehindLink extends ServerPlace {
  readonly late: Late;
  readonly certificates: Certificates;
  readonly flags: readonly string[];
}

/** Starts an API server on another port and a slow link on its address; both stop together. */
async function spawnBehindLink({ flags, late, certificates, ...place }: ServerBehindLink): Promise<Child> {
  const [upstream = 0] = await freePorts(1);
  const own = apiServerFlags({ ...place, port: upstream, address: "127.0.0.1" });
  const believing = linkFlags(join(place.directory, "ca.crt"));
  const child = await spawnChild(place.directory, "kube-apiserver", [...own, ...believing, ...flags]);
  const link = await startSlowLink({ late, certificates, upstream, address: place.address, port: place.port });
  void child.exited.then(() => link.stop());
  return {
    ...child,
    async kill() {
      await child.kill();
      await link.stop();
    },
  };
}

function apiServerFlags(o: ServerPlace): string[] {
  const { directory, port, etcdUrl, address } = o;
  const file = (name: string) => join(directory, name);
  return [
    `--bind-address=${address}`,
    "--endpoint-reconciler-type=none",
    `--secure-port=${port}`,
    `--etcd-servers=${etcdUrl}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--tls-cert-file=${file("server.crt")}`,
    `--tls-private-key-file=${file("server.key")}`,
    `--token-auth-file=${file("tokens.csv")}`,
    `--service-account-key-file=${file("service-account.key")}`,
    `--service-account-signing-key-file=${file("service-account.key")}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    "--service-cluster-ip-range=10.96.0.0/16",
    "--authorization-mode=RBAC",
    // Its controller does not run here, so that no pod would ever be admitted.
    "--disable-admission-plugins=ServiceAccount",
    "--profiling=false",
  ];
}

/** /readyz says ok too early: RBAC and the storage of custom resources come after it. */
async function ready(client: KubeClient, child: Child): Promise<void> {
  const deadline = Date.now() + seconds(60);
  for (;;) {
    try {
      await client.list(CustomResourceDefinition);
      if ((await client.read(Namespace, { name: "default" })) !== undefined) return;
    } catch (error) {
      if (!child.alive()) throw new Error(`kube-apiserver ended:\n${child.output().slice(-2000)}`, { cause: error });
      if (Date.now() > deadline) throw error;
    }
    await sleep(100);
  }
}
