import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { compare, valid } from "semver";
import { cacheDirectory } from "../binary/binaries.ts";
import { findProgram } from "../binary/path.ts";

/** What is linked to /opt/bin and, for every cached version, to /opt/kubernetes/<version>. */
const kubernetesPrograms = ["kubelet", "kubectl", "kube-proxy"];

const hostPrograms = ["containerd", "containerd-shim-runc-v2", "ctr", "runc", "curl"];

/** The links that put a machine's programs in place: the newest cached Kubernetes, all versions of it, and the host's containerd. */
export async function machineLinks(): Promise<Record<string, string>> {
  const links: Record<string, string> = { "/opt/cni/bin": cniPlugins };
  for (const name of hostPrograms) links[`/opt/bin/${name}`] = await requireProgram(name);
  for (const name of kubernetesPrograms) {
    for (const { version, path } of await cachedVersions(name)) {
      links[`/opt/kubernetes/${version}/${name}`] = path;
      links[`/opt/bin/${name}`] = path;
    }
  }
  return links;
}

/** Where the host's package has network plugins. */
export const cniPlugins = "/usr/lib/cni";

/** The path of a program of the host; throws where it has none of that name. */
export async function requireProgram(name: string): Promise<string> {
  const path = await findProgram(name);
  if (path === undefined) throw new Error(`cannot make a machine without ${name}: install the package that has it`);
  return path;
}

/** The versions of a binary that are in the cache, the newest last. */
export async function cachedVersions(name: string): Promise<{ readonly version: string; readonly path: string }[]> {
  const folder = join(cacheDirectory(), "bin", name);
  const versions = (await readdir(folder).catch(() => [])).filter((entry) => valid(entry) !== null);
  return versions.sort(compare).map((version) => ({ version, path: join(folder, version, name) }));
}
