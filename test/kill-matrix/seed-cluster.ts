import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyCrds, applyFoundations } from "../../src/local/cluster/manifests.ts";
import { spawnChild } from "../support/child.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { claimDirectory, controlPlanePrefix } from "../support/leftovers.ts";

/** A cluster for control planes: API server, etcd and the controllers that make pods of workloads; no kubelet. */
export interface SeedCluster extends ControlPlane {
  readonly name: string;
}

/** Starts it; it dies with this process. */
export async function startSeedCluster(name: string): Promise<SeedCluster> {
  const controlPlane = await startControlPlane({ flags: ["--allow-privileged=true"] });
  await applyCrds(controlPlane.client, "seed");
  const directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  await applyFoundations(controlPlane.client, "seed");
  const kubeconfig = join(directory, "kube-controller-manager.yaml");
  await writeFile(kubeconfig, controlPlane.kubeconfigOf("kube-controller-manager"), { mode: 0o600 });
  const manager = await spawnChild(directory, "kube-controller-manager", flags(kubeconfig));
  return {
    ...controlPlane,
    name,
    async stop() {
      await manager.kill();
      await controlPlane.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Only what our objects need, and in a hurry; the lab empties namespaces by itself. */
function flags(kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.map((name) => `${name}-controller`).join(",")}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
  ];
}

const controllers = [
  "garbage-collector",
  "deployment",
  "replicaset",
  "statefulset",
  "job",
  "cronjob",
  "persistentvolume-binder",
  "persistentvolumeclaim-protection",
];
