import { afterEach, beforeEach, expect, test } from "vitest";
import { preflight } from "../../../src/gardenadm/preflight/preflight.ts";
import { bareRoot, versionOf, type BareRoot } from "../../support/bare-root.ts";

let machine: BareRoot;

beforeEach(async () => {
  machine = await bareRoot();
});

afterEach(async () => {
  await machine.remove();
});

const OURS = "registry.k8s.io/pause:3.10";

/** What a containerd of this version is warned of, which has these images and this configuration. */
async function warningsOf(version: string, images: readonly string[], configuration: string) {
  await machine.write({ "/etc/containerd/config.toml": configuration });
  const ctr = async ([word]: readonly string[]) =>
    await Promise.resolve(word === "version" ? versionOf(version) : `${images.join("\n")}\n`);
  const { faults, warnings } = await preflight({ ...machine.candidate, isBegun: true, ctr }, "worker");
  expect(faults).toEqual([]);
  return warnings;
}

test("a containerd 1 that nothing tells whose the cgroups are is warned of, and one that other files may tell is not", async () => {
  const sentence =
    "containerd makes cgroups of its own, and the kubelet's are systemd's: write SystemdCgroup = true into the options of runtime runc in its configuration, and run 'systemctl restart containerd'";
  expect(await warningsOf("1.7.24", [], 'version = 2\n# SystemdCgroup = true\nimports = [""]\n')).toEqual([]);
  expect(await warningsOf("1.7.24", [], "version = 2\n# SystemdCgroup = true\nimports = []\n")).toEqual([sentence]);
  expect(await warningsOf("1.7.24", [], "    SystemdCgroup = true\n")).toEqual([]);
  expect(await warningsOf("2.0.1", [], "version = 3\n")).toEqual([]);
  await machine.write({ "/etc/kubernetes/kubelet.conf.d/50-host.conf": "cgroupDriver: cgroupfs\n" });
  expect(await warningsOf("1.7.24", [], "version = 2\n")).toEqual([]);
});

test("a containerd that begins pods with an image that is not there is warned of, where the one that was meant for it is", async () => {
  const cgroups = "SystemdCgroup = true\n";
  const sentence = (image: string) =>
    `containerd begins each pod with ${image}, which it has to download, and ${OURS} is there: name that in its configuration, and run 'systemctl restart containerd'`;
  const other = "registry.k8s.io/pause:3.8";
  expect(await warningsOf("1.7.24", [OURS, "b/a:1"], cgroups)).toEqual([sentence("a pause image of its own choice")]);
  expect(await warningsOf("1.7.24", [OURS], `${cgroups}sandbox_image = "${other}"\n`)).toEqual([sentence(other)]);
  expect(await warningsOf("2.0.1", [OURS], `  sandbox = '${other}'\n`)).toEqual([sentence(other)]);
  expect(await warningsOf("1.7.24", [OURS], `${cgroups}sandbox_image = "${OURS}"\n`)).toEqual([]);
  expect(await warningsOf("1.7.24", [OURS, other], cgroups)).toEqual([]);
  expect(await warningsOf("1.7.24", ["b/a:1"], `${cgroups}sandbox_image = "${other}"\n`)).toEqual([]);
  expect(await warningsOf("2.0.1", [OURS], "  sandboxer = 'podsandbox'\n")).toEqual([]);
});
