import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { deploySeedResourceManager } from "../../src/activities/managed-resources/seed-resource-manager.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { verifyExtension, type Report } from "../../src/conformance/verify.ts";
import { ConfigMap, Secret } from "../../src/kube/index.ts";
import { ipPools } from "../../src/local/cluster/ip-pools.ts";
import { applyUpstreamCrds } from "../../src/local/cluster/manifests.ts";
import { readManifest } from "../../src/manifests.ts";
import { createLogger } from "../../src/log.ts";
import type { Child } from "./child.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { applyGardenersCrds } from "./gardener-definitions.ts";
import { startResourceManager } from "./resource-manager.ts";
import { startTrialShoot } from "./trial-shoot.ts";
import { startCalico, startProviderLocal, type KnownHost } from "./upstream-controllers.ts";
import type { UpstreamSubject } from "./upstream-subjects.ts";

/** A seed with upstream's own definitions and its resource manager, in which controllers of upstream are judged. */
export interface UpstreamSeed {
  /** Judges a controller in a process of its own; only that process knows the host. */
  judge(subject: UpstreamSubject, host?: KnownHost): Promise<Report>;
  stop(): Promise<void>;
}

const log = createLogger({ name: "upstream", level: "silent" });

/** Starts it, with a cluster for the Shoots of trials where that is asked for; nothing of it outlives the test. */
export async function startUpstreamSeed(o: { readonly shoot?: boolean } = {}): Promise<UpstreamSeed> {
  const directory = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  const seed = await startControlPlane();
  await applyGardenersCrds(seed.client);
  await applyUpstreamCrds(seed.client);
  for (const object of [ipPools, ...(await readManifest("options/resource-manager/rbac.yaml"))])
    await seed.client.apply(object);
  await deploySeedResourceManager(seed.client);
  const manager = await startSeedManager(seed, join(directory, "resource-manager"));
  const shoot = o.shoot === true ? await startTrialShoot(seed, directory) : undefined;
  return {
    judge: async (subject, host) => await judge({ seed, directory, subject, host }),
    async stop() {
      await shoot?.stop();
      await manager.kill();
      await seed.stop();
      await rm(directory, { recursive: true });
    },
  };
}

async function startSeedManager({ client, kubeconfigFile }: ControlPlane, folder: string): Promise<Child> {
  const ref = { namespace: "garden", name: "gardener-resource-manager" };
  const { data = {} } = (await client.read(Secret, { ...ref, name: `${ref.name}-server` })) ?? {};
  const files = { source: kubeconfigFile, target: kubeconfigFile, server: data };
  return await startResourceManager(folder, await client.read(ConfigMap, ref), files);
}

interface Trial {
  readonly seed: ControlPlane;
  readonly directory: string;
  readonly subject: UpstreamSubject;
  readonly host: KnownHost | undefined;
}

async function judge({ seed, directory, subject, host }: Trial): Promise<Report> {
  const { kind, type, spec, failingConfig, cluster, controller, patience = 20_000, oneByOne = false } = subject;
  const home = join(directory, `${kind}-${type}`);
  await mkdir(home);
  const start = () =>
    controller === "networking-calico"
      ? startCalico(home, seed.kubeconfigFile)
      : startProviderLocal(home, seed.kubeconfigFile, [controller], host);
  let child = await start();
  const restart = async () => {
    await child.kill();
    child = await start();
  };
  try {
    return await verifyExtension({
      client: seed.client,
      subject: {
        kind,
        type,
        ...(spec && { spec }),
        ...(failingConfig && { failingConfig }),
        ...(cluster && { cluster }),
        objects: [credentials(seed)],
        restart,
      },
      pace: { timeout: patience, settle: 2_000, oneByOne },
      log,
      signal: new AbortController().signal,
    });
  } finally {
    if (!child.alive()) expect.fail(child.output());
    await child.kill();
  }
}

/** Its infrastructure is made in the seed itself. */
const credentials = ({ kubeconfig }: ControlPlane): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cloudprovider" },
  stringData: { kubeconfig },
});
