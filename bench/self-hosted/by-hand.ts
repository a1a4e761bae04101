import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import type { KubeObject } from "../../src/api/index.ts";
import { applyAll } from "../../src/gardenadm/cluster/apply-all.ts";
import { refOf, type KubeClient } from "../../src/kube/index.ts";
import { withoutServerFields } from "../../src/gardenadm/discover/stored-object.ts";
import { until, type MachineGround } from "./ground.ts";
import { untilUsable } from "./watched-init.ts";

/** The files of a machine that carries a control plane, and how long it takes when they are placed by hand. */
export interface ByHand {
  /** Empties the machine, places the files, starts the kubelet, and answers how long all took from there. */
  place(): Promise<ByHandCost>;
  /** Leaves nothing of the files on the host. */
  forget(): Promise<void>;
}

/** From the first file that is placed; ms. */
export interface ByHandCost {
  /** Until the node is Ready. */
  readonly ready: number;
  /** Until a pod runs and a name of the cluster is answered, too. */
  readonly usable: number;
}

/**
 * Takes what init has made for kubelet and static pods: certificates, manifests, programs, units, kernel settings and a configuration of the pod
 * network; and the objects of proxy, pod network and DNS. A node agent and what manages the cluster is not among it.
 */
export async function takeFiles(ground: MachineGround, name: string): Promise<ByHand> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-by-hand-"));
  const file = join(folder, "files.tar");
  const root = (await ground.machines.list()).find((machine) => machine.name === name)?.root ?? "";
  await execa("tar", ["--create", "--file", file, "--directory", root, ...FILES]);
  const objects = await takeObjects(ground, name);
  const hosts = await ground.run(name, ["grep", "# API server", "/etc/hosts"]);
  return {
    async place() {
      await ground.machines.wipe(name);
      await ground.provide(name);
      const tar = await readFile(file);
      const begun = performance.now();
      await unpack(ground, name, tar, ["sh", "-c", PLACE, "place", hosts]);
      await ground.apiReady(name);
      await unpack(ground, name, tar, ["tar", "--extract", "--directory", "/", ...LAST]);
      await ground.nodeReady(name);
      const ready = performance.now() - begun;
      const client = await ground.client(name);
      try {
        await applyInTurn(client, objects);
      } finally {
        await client.close();
      }
      await untilUsable(ground, name);
      return { ready, usable: performance.now() - begun };
    },
    forget: async () => await rm(folder, { recursive: true }),
  };
}

async function unpack(
  { machines }: MachineGround,
  name: string,
  tar: Buffer,
  command: readonly string[],
): Promise<void> {
  const { code, stderr } = await machines.exec(name, command, { stdin: tar });
  if (code !== 0) throw new Error(`cannot place files on ${name}: ${stderr}`);
}

/** DNS comes when proxy and network are ready, as with init: the first call of the API server's Service has no answer before, and CoreDNS waits half a minute for it. */
async function applyInTurn(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const [names, ways] = [objects.filter(isOfNames), objects.filter((object) => !isOfNames(object))];
  await applyAll(client, ways);
  const sets = ways.filter(({ kind }) => kind === "DaemonSet");
  await until(async () => (await Promise.all(sets.map((set) => client.read(refOf(set))))).every(isAtWork));
  await applyAll(client, names);
}

const isOfNames = ({ metadata }: KubeObject): boolean => /coredns|kube-dns/.test(metadata.name);

function isAtWork(set: KubeObject | undefined): boolean {
  const { desiredNumberScheduled = 0, numberReady = 0 } = (set?.["status"] ?? {}) as Readonly<Record<string, number>>;
  return desiredNumberScheduled > 0 && numberReady === desiredNumberScheduled;
}

/** Of what a cluster needs for pods and names. */
async function takeObjects(ground: MachineGround, name: string): Promise<KubeObject[]> {
  const client = await ground.client(name);
  try {
    const types = (await client.types()).filter(({ kind }) => KINDS.includes(kind));
    const lists = await Promise.all(types.map(async (type) => await client.list(type)));
    return lists
      .flat()
      .filter(({ metadata }) => OF_NETWORK.test(metadata.name))
      .map(withoutServerFields);
  } finally {
    await client.close();
  }
}

const KINDS = [
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "ConfigMap",
  "Service",
  "DaemonSet",
  "Deployment",
];

const OF_NETWORK = /^(perennial:)?(kube-proxy|network-agent|coredns|kube-dns)/;

const FILES = [
  ...["etc/kubernetes", "var/lib/static-pods", "opt/bin/kubelet", "etc/systemd/system/kubelet.service"],
  ...["etc/sysctl.d", "etc/containerd", "etc/cni/net.d", "var/lib/kubelet/config", "var/lib/kubelet/ca.crt"],
  ...["var/lib/kubelet/kubeconfig-real", "var/lib/kubelet/pki"],
];

/** They end while no API server answers, and the kubelet begins them again later each time: they come when it does, as with init. */
const LAST = ["kube-controller-manager", "kube-scheduler"].map((pod) => `etc/kubernetes/manifests/${pod}.yaml`);

/** Its etcds are to found clusters, as those of a first init. What its pods call the API server by is the first argument. */
const PLACE = `
set -e
printf '%s' "$1" >>/etc/hosts
tar --extract --directory / ${LAST.map((file) => `--exclude=${file}`).join(" ")}
sed -i 's/^initial-cluster-state: existing$/initial-cluster-state: new/' /var/lib/static-pods/etcd-*/etcd-*-config/etcd.yaml
for data in /var/lib/etcd-main/data/new.etcd /var/lib/etcd-events/data/new.etcd; do
  mkdir --parents "$data/member"
  ln --symbolic /etc/etcd/etcd.yaml "$data/member/etcd.yaml"
done
systemctl daemon-reload
systemctl restart systemd-sysctl
systemctl restart containerd
systemctl start kubelet
`;
