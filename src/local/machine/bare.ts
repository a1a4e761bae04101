import { access, readFile } from "node:fs/promises";
import { commandLines } from "../../api/command-lines.ts";
import { cacheDirectory } from "../binary/binaries.ts";
import { pauseImage } from "../image/images.ts";
import { ensureRootFilesystem } from "../image/root-filesystem.ts";
import { findResolvers } from "../process/dns.ts";
import { containerdConfig } from "./image.ts";
import type { Init } from "./machine.ts";
import { bootRunner, copyHostSettings, hostPrograms, runnerFiles } from "./runner.ts";
import { writeRecord, type MachinePaths, type MachineRecord } from "./record.ts";
import {
  bootSystem,
  emptyDisk,
  identityFiles,
  writeSystemFiles,
  type SystemFile,
  type SystemIdentity,
} from "./system.ts";
import { renderYaml } from "../../yaml.ts";

/** Boots a bare machine: what it is given it is given once, on an empty disk; from then on its files are its own. */
export async function bootBare(
  set: string,
  paths: MachinePaths,
  cgroupFiles: readonly string[],
  record: MachineRecord,
): Promise<void> {
  const image = await prepareDisk(set, paths, record);
  if (record.init === "runner") await bootRunner(paths, cgroupFiles, record.name);
  else await bootSystem(paths, cgroupFiles, { name: record.name, image, files: [] });
}

/** Until the record says that a disk has its first files, it has never been booted from, and is emptied again. */
async function prepareDisk(set: string, paths: MachinePaths, record: MachineRecord): Promise<string> {
  const { name, address, disk, init = "systemd" } = record;
  if (disk !== undefined && "image" in disk) {
    await access(disk.image).catch((cause: unknown) => {
      const remedy = `an empty disk begins anew: ${commandLines.wipeMachine(name, set)}`;
      throw new Error(`cannot boot machine ${name}: ${disk.image}, which its disk lies over, is gone; ${remedy}`, {
        cause,
      });
    });
    return disk.image;
  }
  const identity = { name, address, nameservers: await nameserversOfHost() };
  await emptyDisk(paths);
  const image = init === "runner" ? hostPrograms : await ensureRootFilesystem(cacheDirectory());
  if (init === "runner") await copyHostSettings(paths);
  await writeSystemFiles(paths, bareFiles(identity, init));
  if (init === "runner") await writeSystemFiles(paths, await runnerFiles());
  await writeRecord(paths, { ...record, disk: { image } });
  return image;
}

/**
 * What is on the disk of a bare machine when it boots for the first time, beside its packages. All of Kubernetes' that it has is
 * what a kubelet must know about this host, in a folder that is given to it as `--config-dir`.
 */
export function bareFiles(identity: SystemIdentity, init: Init): readonly SystemFile[] {
  const systemdCgroup = init === "systemd";
  const settings = systemdCgroup ? hostSettings : { ...hostSettings, cgroupDriver: "cgroupfs" };
  return [
    ...identityFiles(identity),
    { path: "/etc/containerd/config.toml", text: containerdConfig({ sandboxImage: pauseImage, systemdCgroup }) },
    { path: "/etc/kubernetes/kubelet.conf.d/50-machine.conf", text: renderYaml(settings) },
  ];
}

/** Swap and version 1 of cgroups are the host's. So is the disk, which all machines share: how full it is says nothing of one. */
const hostSettings = {
  apiVersion: "kubelet.config.k8s.io/v1beta1",
  kind: "KubeletConfiguration",
  evictionHard: {
    "memory.available": "50Mi",
    "nodefs.available": "1%",
    "nodefs.inodesFree": "1%",
    "imagefs.available": "1%",
  },
  // A merge patch: what is null goes.
  evictionSoft: null,
  evictionSoftGracePeriod: null,
  evictionMinimumReclaim: null,
  failCgroupV1: false,
  failSwapOn: false,
  imageGCHighThresholdPercent: 100,
};

/** Those that a machine reaches, too: none on the host's loopback. */
async function nameserversOfHost(): Promise<string[]> {
  const known = findResolvers(await readFile("/etc/resolv.conf", "utf8").catch(() => ""), "");
  return known.filter((server) => !server.startsWith("127.") && server !== "::1");
}
