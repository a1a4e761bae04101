import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readConfiguration } from "../../../src/gardenadm/configuration/configuration.ts";
import { createStartActions } from "../../../src/gardenadm/init/actions.ts";
import type { StartAction } from "../../../src/gardenadm/init/start-control-plane.ts";
import { placesIn } from "../../../src/gardenadm/machine/places.ts";
import { createDirectoryClient } from "../../../src/kube/directory/directory-client.ts";
import { Secret } from "../../../src/kube/index.ts";
import { exampleConfiguration } from "../../support/configuration.ts";
import { fakeSystem, type FakeSystem } from "../../support/fake-systemctl.ts";
import { machineIn } from "../../support/machine-world.ts";

// The first steps of init, on a machine that reaches nothing: no garden, and no API server of its own.

let dir: string;
let system: FakeSystem;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "first-steps-"));
  system = await fakeSystem(dir, {
    "containerd.service": "",
    "systemd-sysctl.service": "",
    "systemd-journald.service": "",
  });
  await writeFile(join(dir, "ctr"), CTR, { mode: 0o755 });
  await mkdir(join(dir, "config"));
  const objects = { apiVersion: "v1", kind: "List", items: exampleConfiguration() };
  await writeFile(join(dir, "config", "all.json"), JSON.stringify(objects));
});

afterEach(async () => await rm(dir, { recursive: true }));

test("authorities, certificates and keys are made from the configuration's files alone, and once", async () => {
  await carryOut("config", "secrets");
  const first = await secrets();
  const lasting = ["ca", "ca-client", "ca-etcd", "ca-kubelet", "kube-apiserver.a", "service-account-key"];
  expect(Object.keys(first)).toEqual(expect.arrayContaining(lasting));
  await carryOut("config", "secrets");
  expect(await secrets()).toEqual(first);
});

test("the machine is described, and becomes what it is to be, while no API server answers", async () => {
  await carryOut("config", "secrets", "machineConfig", "machine");
  expect(Object.keys(await system.running())).toContain("kubelet.service");
  const manifest = (pod: string) => readFile(join(dir, "root/etc/kubernetes/manifests", `${pod}.yaml`), "utf8");
  for (const pod of ["etcd-main", "etcd-events", "kube-apiserver"])
    expect(await manifest(pod)).toContain(`name: ${pod}`);
});

/** Has images with the programs of a node and nothing else. */
const CTR = `#!/bin/sh
[ "$2" = mount ] && mkdir -p "$4/usr/local/bin" && cd "$4" && touch kubelet usr/local/bin/etcdctl usr/local/bin/etcdutl
[ "$2" = unmount ] && rm -rf "$4/kubelet" "$4/usr"
exit 0
`;

/** Carries out these steps of init, in a command of its own. */
async function carryOut(...steps: readonly StartAction[]): Promise<void> {
  const machine = { ...machineIn(dir), hostName: "a", addresses: ["10.0.0.1"] as const };
  const { actions, close } = createStartActions({
    machine,
    configuration: await readConfiguration(join(dir, "config")),
  });
  const scope = { signal: new AbortController().signal, tell: () => {} };
  try {
    for (const step of steps) await actions[step](scope);
  } finally {
    await close();
  }
}

/** The data of all Secrets that the machine keeps, by name. */
async function secrets(): Promise<Record<string, unknown>> {
  const client = createDirectoryClient({ directory: placesIn(join(dir, "root")).cluster });
  try {
    return Object.fromEntries((await client.list(Secret)).map(({ metadata, data }) => [metadata.name, data]));
  } finally {
    await client.close();
  }
}
