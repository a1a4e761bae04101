import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { deploySeedResourceManager } from "../../src/activities/managed-resources/seed-resource-manager.ts";
import { ControllerRegistration, Shoot } from "../../src/api/index.ts";
import type { InstallationRun } from "../../src/api/registration/run.ts";
import { installationNamespace } from "../../src/api/names.ts";
import { RESOURCE_MANAGER, RESOURCE_MANAGER_SERVER } from "../../src/components/index.ts";
import { ConfigMap, Namespace, refOf, refTo, Secret } from "../../src/kube/index.ts";
import { applyUpstreamCrds } from "../../src/local/cluster/manifests.ts";
import { readManifest } from "../../src/manifests.ts";
import { spawnChild, type Child } from "../support/child.ts";
import { packageChart } from "../support/charts.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { createShoot } from "../support/garden-objects.ts";
import { inline, useInstallations } from "../support/installations.ts";
import { startResourceManager, type LocalResourceManager } from "../support/resource-manager.ts";
import { seconds } from "../support/patience.ts";

const test = ownClusterTest({ crds: true });
const { register, installationOf, carryOut, managedResource } = useInstallations(test, {
  resourceManager: true,
  beforeStep: kill,
});
let cluster: ControlPlane;
let directory: string;
let starting: Promise<LocalResourceManager> | undefined;
/** Kubernetes' controller of namespaces, and no other: without it none goes. */
let namespaces: Child;
let kills = 0;

test.beforeAll(async ({ cluster: own }) => {
  cluster = own;
  directory = await mkdtemp(join(tmpdir(), "perennial-killed-"));
  await applyUpstreamCrds(cluster.client);
  for (const object of await readManifest("options/resource-manager/rbac.yaml")) await cluster.client.apply(object);
  await deploySeedResourceManager(cluster.client);
  const flags = ["--controllers=namespace", "--leader-elect=false", "--secure-port=0"];
  namespaces = await spawnChild(directory, "kube-controller-manager", [`--kubeconfig=${own.kubeconfigFile}`, ...flags]);
});
test.afterAll(async () => {
  await Promise.all([(await starting)?.kill(), namespaces.kill()]);
  await rm(directory, { recursive: true });
});

/** Kills the resource manager as the node would, and starts another one while the step is under way. */
async function kill(): Promise<void> {
  await (await starting)?.kill();
  kills += 1;
  starting = sleep(500).then(start);
}

async function start(): Promise<LocalResourceManager> {
  const { client } = cluster;
  const config = await client.read(ConfigMap, { namespace: "garden", name: RESOURCE_MANAGER });
  const { data: server = {} } =
    (await client.read(Secret, { namespace: "garden", name: RESOURCE_MANAGER_SERVER })) ?? {};
  const kubeconfig = cluster.kubeconfigFile;
  return await startResourceManager(join(directory, String(kills)), config, {
    ...{ source: kubeconfig, target: kubeconfig, server },
  });
}

/** Runs the flow, once the manager has asked for it. */
async function carriedOut(): Promise<InstallationRun> {
  for (;;) {
    const run = await carryOut("killed", 120_000);
    if (run !== undefined) return run;
    await sleep(100);
  }
}

const configMap = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: {{ .Release.Namespace }} }\n`;

test(
  "an installation, an upgrade and a removal come to their ends though the resource manager dies in every step",
  async () => {
    const { client } = cluster;
    const chart = (...names: string[]) =>
      packageChart(Object.fromEntries(names.map((name) => [`templates/${name}.yaml`, configMap(name)])));
    await register("killed", inline(await chart("one", "two")));
    await createShoot(client, "asks", { seedName: "seed-1" });
    const { name } = (await installationOf("killed")).metadata;
    const namespace = installationNamespace(name);
    const applied = async () =>
      (await client.list(ConfigMap, { namespace }))
        .map(({ metadata }) => metadata.name)
        .filter((one) => /^(one|two|three)$/.test(one));

    expect((await carriedOut()).operation).toBe("Create");
    expect(await applied()).toEqual(["one", "two"]);

    await register("killed", inline(await chart("one", "three")));
    expect((await carriedOut()).operation).not.toBe("Delete");
    expect(await applied()).toEqual(["one", "three"]);

    for (const shoot of await client.list(Shoot)) await client.remove(refOf(shoot));
    await client.remove(refTo(ControllerRegistration, { name: "killed" }));
    expect((await carriedOut()).operation).toBe("Delete");
    expect(await managedResource(name)).toBeUndefined();
    expect(await applied()).toEqual([]);
    expect((await client.read(Namespace, { name: namespace }))?.metadata.deletionTimestamp ?? "gone").toBeTypeOf(
      "string",
    );
    expect(kills).toBeGreaterThanOrEqual(12);
  },
  seconds(900),
);
