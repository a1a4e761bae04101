import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { notePodNetwork, ownPodNetwork, removePodNetwork } from "../../../src/gardenadm/machine/pod-network.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "pod-network-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

/** What is in both folders, with the texts of files. */
async function around(): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const folder of ["/etc/cni", "/var/lib/cni"])
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => [])) {
      const path = join(entry.parentPath, entry.name);
      found[path.slice(root.length)] = entry.isFile() ? await readFile(path, "utf8") : "a folder";
    }
  return found;
}

const OWN = { "/etc/cni/net.d/87-podman.conflist": "podman", "/var/lib/cni/networks/podman/10.88.0.2": "a container" };
const CLUSTERS = { "/etc/cni/net.d/10-ours.conflist": "ours", "/var/lib/cni/networks/ours/10.184.0.2": "a pod" };

test("of a node that was made before anything was noted, a reset takes away all", async () => {
  await write({ ...OWN, ...CLUSTERS, "/etc/systemd/system/kubelet.service": "" });
  await ownPodNetwork(root);
  await rm(join(root, "/etc/systemd/system/kubelet.service")); // a kill came between
  await ownPodNetwork(root);
  await removePodNetwork(root);
  expect(await around()).toEqual({});
});

test("a reset leaves what was there before, as it was, and takes away what came since", async () => {
  await write(OWN);
  const before = await around();
  await notePodNetwork(root);
  await write({ ...CLUSTERS, "/etc/cni/net.d/87-podman.conflist": "changed by the Network" });
  await notePodNetwork(root); // the same command goes on
  await removePodNetwork(root);
  await removePodNetwork(root); // a kill came between
  expect(await around()).toEqual(before);
});

test("of a machine that had no pod network, nothing stays", async () => {
  await notePodNetwork(root);
  await write(CLUSTERS);
  await removePodNetwork(root);
  expect(await around()).toEqual({});
});

test("where nothing was noted, as on a node of before, nothing is taken away", async () => {
  await write({ ...OWN, "/etc/systemd/system/kubelet.service": "[Unit]" });
  await notePodNetwork(root);
  await removePodNetwork(root);
  expect(await around()).toMatchObject(OWN);
});
