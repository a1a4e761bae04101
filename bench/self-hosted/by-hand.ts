import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import type { MachineGround } from "./ground.ts";

/** The files of a machine that carries a control plane, and how long it takes when they are placed by hand. */
export interface ByHand {
  /** Empties the machine, places the files, starts the kubelet, and answers how long it took from there until the node was Ready; ms. */
  place(): Promise<number>;
  /** Leaves nothing of the files on the host. */
  forget(): Promise<void>;
}

/**
 * Takes what init has made for kubelet and static pods: certificates, manifests, programs, units, kernel settings and a configuration of the pod
 * network. A node agent and everything in the cluster is not among it.
 */
export async function takeFiles(ground: MachineGround, name: string): Promise<ByHand> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-by-hand-"));
  const file = join(folder, "files.tar");
  const root = (await ground.machines.list()).find((machine) => machine.name === name)?.root ?? "";
  await execa("tar", ["--create", "--file", file, "--directory", root, ...FILES]);
  return {
    async place() {
      await ground.machines.wipe(name);
      await ground.provide(name);
      const tar = await readFile(file);
      const begun = performance.now();
      const { code, stderr } = await ground.machines.exec(name, ["sh", "-c", PLACE], { stdin: tar });
      if (code !== 0) throw new Error(`cannot place files on ${name}: ${stderr}`);
      await ground.nodeReady(name);
      return performance.now() - begun;
    },
    forget: async () => await rm(folder, { recursive: true }),
  };
}

const FILES = [
  ...["etc/kubernetes", "var/lib/static-pods", "opt/bin/kubelet", "etc/systemd/system/kubelet.service"],
  ...["etc/sysctl.d", "etc/containerd", "etc/cni/net.d", "var/lib/kubelet/config", "var/lib/kubelet/ca.crt"],
  ...["var/lib/kubelet/kubeconfig-real", "var/lib/kubelet/pki"],
];

/** Its etcds are to found clusters, as those of a first init. */
const PLACE = `
set -e
tar --extract --directory /
sed -i 's/^initial-cluster-state: existing$/initial-cluster-state: new/' /var/lib/static-pods/etcd-*/etcd-*-config/etcd.yaml
systemctl daemon-reload
systemctl restart systemd-sysctl
systemctl restart containerd
systemctl start kubelet
`;
