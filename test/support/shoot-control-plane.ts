import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BinaryName } from "../../src/local/binary/versions.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { components, type ComponentName, type ControlPlaneContext } from "../../src/components/index.ts";
import { createKubeClient, Secret, type KubeClient } from "../../src/kube/index.ts";
import { spawnChild, type Child } from "./child.ts";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";
import { claimDirectory, controlPlanePrefix, sweepLeftovers } from "./leftovers.ts";

/** A Shoot's control plane: the command lines that we deploy, run as processes on loopback. */
export interface ShootControlPlane {
  /** The kubeconfig of a Secret of the control plane, for use from here. */
  kubeconfig(secret: string): Promise<string>;
  client(secret: string): Promise<KubeClient>;
  /** The status code of an anonymous GET, as the kubelet's probes do it. */
  probe(component: "kube-apiserver" | "kube-controller-manager" | "kube-scheduler", path: string): Promise<number>;
  /** Where agents of the tunnel reach its server, if the Shoot has one. */
  readonly tunnelPort: number;
  /** Runs `etcdctl` against etcd-main and returns its output. */
  etcdctl(...args: string[]): Promise<string>;
  /** The directory in which etcd-main keeps its data. */
  readonly etcdData: string;
  /** Starts the API server again with the Secrets as they are now. */
  restartApiServer(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts it from the Secrets in the context's namespace of `seed`; only paths, hosts and ports are replaced. etcd-main
 * begins with the data of a snapshot, where one is given.
 */
export async function startShootControlPlane(
  seedClient: KubeClient,
  context: ControlPlaneContext,
  { snapshot }: { readonly snapshot?: string } = {},
): Promise<ShootControlPlane> {
  await sweepLeftovers();
  const directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  const ports = await freePorts(12);
  const port = (index: number) => String(ports[index]);
  const [api, manager, scheduler] = [port(6), port(7), port(8)];
  const tunnelPorts = { "8132": port(9), "8133": port(10), "8134": port(11) };
  const etcdPorts = (first: number) => ({ "2379": port(first), "2380": port(first + 1), "2381": port(first + 2) });
  const local = (text: string, home: string) =>
    text
      .replaceAll(
        /\/(srv\/kubernetes|etc\/kubernetes|var\/lib\/kube-scheduler-config|var\/log\/kube-apiserver|var\/etcd|run\/konnectivity)\b/g,
        `${home}$&`,
      )
      .replaceAll("https://etcd-main-client:2379", `https://127.0.0.1:${port(0)}`)
      .replaceAll("https://etcd-events-client:2379", `https://127.0.0.1:${port(3)}`)
      .replaceAll(
        /https:\/\/(kube-apiserver[\w.-]*|172\.30\.128\.1|localhost)(:443)?(?=\s|$)/g,
        `https://127.0.0.1:${api}`,
      )
      .replaceAll(
        /-port=(443|10257|10259|8132|8133|8134)$/g,
        (_, from: string) =>
          `-port=${{ "443": api, "10257": manager, "10259": scheduler, ...tunnelPorts }[from] ?? from}`,
      );

  const objectsOf = (name: ComponentName) => components[name].objects(context);
  const configMaps = (["kube-apiserver", "kube-scheduler"] as const)
    .flatMap(objectsOf)
    .filter(({ kind }) => kind === "ConfigMap");
  const source = { seedClient, namespace: context.namespace, configMaps };
  const children: Child[] = [];
  const start = async (binary: BinaryName, workload: KubeObject | undefined, replace: (text: string) => string) => {
    const { initContainers = [], containers, volumes } = podOf(workload);
    const container = [...initContainers, ...containers].find(({ command: [program] }) => program === binary);
    // As little as pods share their volumes: one process reads its files while those of the next are written.
    const home = join(directory, workload?.metadata.name ?? binary);
    for (const volume of volumes) {
      const mountPath = container?.volumeMounts.find(({ name }) => name === volume.name)?.mountPath;
      if (mountPath === undefined) continue;
      await mkdir(join(home, mountPath), { recursive: true });
      for (const [key, text] of Object.entries(await readVolume(source, volume))) {
        await writeFile(join(home, mountPath, key), local(text, home), { mode: 0o600 });
      }
    }
    const [, ...flags] = container?.command ?? [];
    const child = await spawnChild(
      directory,
      binary,
      flags.map((flag) => replace(local(flag, home))),
    );
    children.push(child);
    return child;
  };
  if (snapshot !== undefined) {
    const restore = ["snapshot", "restore", snapshot, `--data-dir=${directory}/data-0`];
    await (
      await spawnChild(directory, "etcdutl", restore)
    ).exited;
  }
  const etcds = objectsOf("etcd").filter(({ kind }) => kind === "StatefulSet");
  for (const [index, etcd] of etcds.entries()) {
    const known = etcdPorts(index * 3);
    await mkdir(join(directory, `data-${index}`), { mode: 0o700, recursive: true });
    await start("etcd", etcd, (flag) =>
      flag
        .replace(/=.*new\.etcd$/, `=${directory}/data-${index}`)
        .replaceAll(
          /(https?:\/\/)[\w.-]+:(2379|2380|2381)/g,
          (_, scheme: string, from: keyof typeof known) => `${scheme}127.0.0.1:${known[from]}`,
        ),
    );
  }
  const deployment = (name: ComponentName) => objectsOf(name).find(({ kind }) => kind === "Deployment");
  const startApiServer = () => start("kube-apiserver", deployment("kube-apiserver"), (flag) => flag);
  if (context.tunnel === true) await start("proxy-server", deployment("kube-apiserver"), (flag) => flag);
  let apiServer = await startApiServer();
  const probe: ShootControlPlane["probe"] = (component, path) =>
    get({ "kube-apiserver": api, "kube-controller-manager": manager, "kube-scheduler": scheduler }[component], path);
  const running = (what: () => Promise<number>, processes = children) =>
    eventually(async () => {
      const ended = processes.find((child) => !child.alive());
      if (ended) throw new Error(`a process ended:\n${ended.output().slice(-3000)}`);
      if ((await what()) !== 200) throw new Error("is not ready yet");
    }, 60_000);
  await running(() => probe("kube-apiserver", "/readyz"));
  await start("kube-controller-manager", deployment("kube-controller-manager"), (flag) => flag);
  await start("kube-scheduler", deployment("kube-scheduler"), (flag) => flag);
  await running(() => probe("kube-controller-manager", "/healthz"));
  await running(() => probe("kube-scheduler", "/healthz"));

  const kubeconfig = async (name: string) =>
    local((await secretData(seedClient, context.namespace, name))["kubeconfig"] ?? "", directory);
  return {
    kubeconfig,
    client: async (name) => createKubeClient({ kubeconfig: await kubeconfig(name) }),
    probe,
    tunnelPort: Number(tunnelPorts["8132"]),
    etcdData: join(directory, "data-0"),
    async etcdctl(...args) {
      const home = join(directory, "kube-apiserver", "srv/kubernetes");
      const files = {
        cacert: "ca-etcd/ca.crt",
        cert: "kube-apiserver-etcd-client/tls.crt",
        key: "kube-apiserver-etcd-client/tls.key",
      };
      const flags = Object.entries(files).map(([flag, file]) => `--${flag}=${join(home, file)}`);
      const child = await spawnChild(directory, "etcdctl", [
        `--endpoints=https://127.0.0.1:${port(0)}`,
        ...flags,
        ...args,
      ]);
      await child.exited;
      return child.output();
    },
    async restartApiServer() {
      await apiServer.kill();
      children.splice(children.indexOf(apiServer), 1);
      apiServer = await startApiServer();
      // The others may end meanwhile, as pods do, and are not started again.
      await running(() => probe("kube-apiserver", "/readyz"), [apiServer]);
    },
    async stop() {
      for (const child of children.reverse()) await child.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Container {
  readonly command: readonly string[];
  readonly volumeMounts: readonly { name: string; mountPath: string }[];
}

interface Pod {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: readonly { key: string }[] };
  readonly configMap?: { readonly name: string };
}

function podOf(workload: KubeObject | undefined): Pod {
  return (workload as unknown as { spec: { template: { spec: Pod } } }).spec.template.spec;
}

interface Source {
  readonly seedClient: KubeClient;
  readonly namespace: string;
  readonly configMaps: readonly KubeObject[];
}

/** The content of a volume by file name, as the kubelet would mount it. */
async function readVolume(
  { seedClient, namespace, configMaps }: Source,
  { secret, configMap }: Volume,
): Promise<Record<string, string>> {
  if (!secret) {
    const found = configMaps.find(({ metadata }) => metadata.name === configMap?.name);
    return (found?.["data"] ?? {}) as Record<string, string>;
  }
  const data = await secretData(seedClient, namespace, secret.secretName);
  return Object.fromEntries(
    (secret.items?.map(({ key }) => key) ?? Object.keys(data)).map((key) => [key, data[key] ?? ""]),
  );
}

async function secretData(seedClient: KubeClient, namespace: string, name: string): Promise<Record<string, string>> {
  const secret = await seedClient.read(Secret, { namespace, name });
  return Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );
}

/** 0 when nobody listens. */
function get(port: string | undefined, path: string): Promise<number> {
  return new Promise((resolve) => {
    const call = request({ host: "127.0.0.1", port, path, rejectUnauthorized: false, timeout: 5_000 }, (response) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    });
    call.once("error", () => resolve(0)).end();
  });
}
