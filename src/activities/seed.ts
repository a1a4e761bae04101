import { heartbeat } from "@temporalio/activity";
import type { KubeObject } from "../api/meta.ts";
import type { ShootRun } from "../api/shoot-run.ts";
import { refOf, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { createCleanup, type Cleanup } from "./cleanup.ts";
import { clusterRef, readGardenObjects, syncCluster } from "./cluster.ts";
import { createComponents } from "./component.ts";
import { createExtensions } from "./extension.ts";
import { guarded, StepError } from "./failure.ts";
import type { SeedActivities, WaitTarget } from "./index.ts";
import { createNodeWaits } from "./node-waits.ts";
import { createProvisioning } from "./provisioning.ts";
import { createPublishing } from "./publishing.ts";
import type { ShootClients } from "./shoot-clients.ts";
import { removeAnnotated } from "./removal.ts";
import { sentence, type Completer, type Waits } from "./waits.ts";

/** What the activities of one seed need. */
export interface SeedDeps {
  readonly garden: KubeClient;
  readonly seed: KubeClient;
  readonly shootClients: ShootClients;
  readonly waits: Waits;
  readonly completer: Completer;
  readonly log: Logger;
}

/** The activities of queue `seed-<name>`. */
export function createSeedActivities({ garden, seed, shootClients, waits, completer, log }: SeedDeps): SeedActivities {
  const components = createComponents({ garden, seed, shootClients, waits });
  const extensions = createExtensions({ garden, seed, waits });
  const nodeWaits = createNodeWaits({ seed, shootClients, completer, log });
  const cleaning = (phase: keyof Cleanup) => async (run: ShootRun) =>
    createCleanup(await shootClients.get(run.technicalID), heartbeat)[phase]();

  return guarded<SeedActivities>({
    deployComponent: (run, component, step) => components.deploy(run, component, step),
    destroyComponent: (run, component, step) => components.destroy(run, component, step),
    applyExtension: (run, kind, step, purpose) => extensions.apply(run, kind, step, purpose),
    removeExtension: (run, kind, step, purpose) => extensions.remove(run, kind, step, purpose),
    removeStaleConfigs: (run) => extensions.removeStale(run, "OperatingSystemConfig"),
    ...createProvisioning({ garden, seed, shootClients }),
    ...createPublishing({ garden, seed }),

    async waitFor(run, target) {
      await (target.until === "nodesReady" ? nodeWaits.wait(run, target) : waits.wait(target));
    },
    async explainWait(run, target) {
      const standing = target.until === "nodesReady" ? await nodeWaits.standing(run, target) : waits.standing(target);
      const codes = standing.reached ? [] : (standing.error?.codes ?? []);
      return { message: sentence(target, standing), codes };
    },

    syncCluster: async (run) => syncCluster(seed, run, await readGardenObjects(garden, run)),
    removeCluster: (run) => seed.remove(clusterRef(run)),
    async initializeShootClients(run) {
      const answer = await (await shootClients.get(run.technicalID)).get("/readyz");
      if (answer !== "ok") throw new StepError(`the Shoot's API server is not ready: ${String(answer)}`);
    },
    cleanWebhooks: cleaning("webhooks"),
    cleanExtendedApis: cleaning("extendedApis"),
    cleanKubernetesResources: cleaning("kubernetesResources"),

    async removeNamespace(run, step) {
      await shootClients.forget(run.technicalID);
      return removeNamespace(seed, waits, run, step);
    },
    readControlPlane: (run) => readControlPlane(seed, run),
  });
}

async function removeNamespace(seed: KubeClient, waits: Waits, run: ShootRun, step: string): Promise<WaitTarget[]> {
  const namespace = await readNamespace(seed, run);
  if (namespace === undefined) return [];
  const target: WaitTarget = {
    apiVersion: "v1",
    kind: "Namespace",
    name: run.technicalID,
    until: "gone",
    activityId: `${step}/wait`,
    severeAfter: 900_000,
    deadline: 900_000,
  };
  await removeAnnotated(seed, refOf(namespace), waits.registration(target));
  return [target];
}

/** What there is decides how the deletion goes: without an API server, or what it runs on, nothing can be cleaned through it. */
async function readControlPlane(seed: KubeClient, run: ShootRun) {
  const extension = (kind: string) =>
    seed.read<ExtensionStatus>({
      apiVersion: "extensions.gardener.cloud/v1alpha1",
      kind,
      namespace: run.technicalID,
      name: run.name,
    });
  const [namespace, apiServer, infrastructure, controlPlane] = await Promise.all([
    readNamespace(seed, run),
    seed.read({ apiVersion: "apps/v1", kind: "Deployment", namespace: run.technicalID, name: "kube-apiserver" }),
    extension("Infrastructure"),
    extension("ControlPlane"),
  ]);
  const namespaceUsable = namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
  return {
    namespaceUsable,
    cleanup: namespaceUsable && apiServer !== undefined && (run.workerless || infrastructure !== undefined),
    controlPlaneNeeded:
      controlPlane !== undefined &&
      controlPlane.metadata.deletionTimestamp === undefined &&
      infrastructure?.status?.providerStatus !== undefined,
  };
}

interface ExtensionStatus extends KubeObject {
  readonly status?: { readonly providerStatus?: unknown };
}

const readNamespace = (seed: KubeClient, run: ShootRun) =>
  seed.read<KubeObject>({ apiVersion: "v1", kind: "Namespace", name: run.technicalID });
