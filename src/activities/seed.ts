import { heartbeat } from "@temporalio/activity";
import type { KubeObject } from "../api/schema/meta.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { createCleanup, type Cleanup } from "./teardown/shoot-resources.ts";
import { clusterRef, readGardenObjects, syncCluster } from "./control-plane/cluster.ts";
import { guarded, StepError } from "./failure.ts";
import type { SeedActivities, WaitTarget } from "./index.ts";
import { createSourceCheck } from "./shoot/migration-check.ts";
import { createNodeWaits } from "./waits/node-waits.ts";
import { createSeedHands, type SeedHands, type SeedHandsDeps } from "./seed-services.ts";
import { findPodTrouble } from "./waits/pod-trouble.ts";
import { removeAnnotated } from "./teardown/removal.ts";
import { sentence, type Completer, type Waits } from "./waits/waits.ts";

/** What the activities of one seed need. */
export interface SeedDeps extends SeedHandsDeps {
  readonly completer: Completer;
  readonly log: Logger;
}

/** The activities of queue `seed-<name>`. Whatever they write into a Shoot's namespace carries the epoch of its run. */
export function createSeedActivities(deps: SeedDeps): SeedActivities {
  const { garden, seed, shootClients, waits, completer, log } = deps;
  const nodeWaits = createNodeWaits({ seed, shootClients, completer, log });
  const hands = createSeedHands(deps);
  const chore = (work: (hands: SeedHands, run: ShootRun) => Promise<void>) => (run: ShootRun) => work(hands(run), run);
  const cleaning = (phase: keyof Cleanup) => async (run: ShootRun) =>
    createCleanup(await shootClients.get(run.technicalID), heartbeat)[phase]();

  return guarded<SeedActivities>({
    deployComponent: (run, component, step) => hands(run).components.deploy(run, component, step),
    destroyComponent: (run, component, step) => hands(run).components.destroy(run, component, step),
    applyExtension: (run, kind, step, purpose) => hands(run).extensions.apply(run, kind, step, purpose),
    removeExtension: (run, kind, step, purpose) => hands(run).extensions.remove(run, kind, step, purpose),
    removeStaleConfigs: chore(({ extensions }, run) => extensions.removeStale(run, "OperatingSystemConfig")),

    migrateExtension: (run, kind, step, purpose) => hands(run).moves.migrate(run, kind, step, purpose),
    async restoreExtension(run, kind, step, purpose) {
      const { moves, backup } = hands(run);
      const targets = await moves.restore(run, kind, step, purpose);
      return kind === "BackupEntry" ? [...targets, ...(await backup.copySnapshot(run, step))] : targets;
    },
    lowerTtl: (run, step) => hands(run).extensions.lowerTtl(run, step),
    markNamespace: chore(({ leftovers }, run) => leftovers.markNamespace(run)),
    raiseFence: chore(({ leftovers }, run) => leftovers.raiseFence(run)),
    stopWorkload: (run, component, step) => hands(run).leftovers.stopWorkload(run, component, step),
    stopEverything: (run, step) => hands(run).leftovers.stopEverything(run, step),
    abandonExtensions: chore(({ leftovers }, run) => leftovers.abandonExtensions(run)),

    warmUp: (run, step) => hands(run).backup.warmUp(run, step),
    takeSnapshot: (run, step) => hands(run).backup.takeSnapshot(run, step),
    keepSnapshot: chore(({ backup }, run) => backup.keepSnapshot(run)),
    restoreVolume: (run, step) => hands(run).backup.restoreVolume(run, step),
    finishVolume: chore(({ backup }, run) => backup.finishVolume(run)),

    async checkSource(run) {
      await createSourceCheck({ seed })(run);
      await hands(run).state.checkState(run);
      // Extensions that read of a failed operation before this one would let none of what follows pass.
      await syncCluster(hands(run).seed, run, await readGardenObjects(garden, run));
    },
    persistState: chore(({ state }, run) => state.persistState(run)),
    removeState: chore(({ state }, run) => state.removeState(run)),
    restoreSecrets: chore(({ state }, run) => state.restoreSecrets(run)),

    deploySecrets: chore(({ provisioning }, run) => provisioning.deploySecrets(run)),
    deployCloudProviderSecret: chore(({ provisioning }, run) => provisioning.deployCloudProviderSecret(run)),
    deployNodeAgentSecrets: chore(({ provisioning }, run) => provisioning.deployNodeAgentSecrets(run)),
    publishInfrastructure: chore(({ publishing }, run) => publishing.publishInfrastructure(run)),
    publishAddress: chore(({ publishing }, run) => publishing.publishAddress(run)),
    publishKubeconfig: chore(({ publishing }, run) => publishing.publishKubeconfig(run)),

    async waitFor(run, target) {
      await (target.until === "nodesReady" ? nodeWaits.wait(run, target) : waits.wait(target));
    },
    async explainWait(run, target) {
      const standing = target.until === "nodesReady" ? await nodeWaits.standing(run, target) : waits.standing(target);
      const codes = standing.reached ? [] : (standing.error?.codes ?? []);
      const trouble = target.kind === "Job" && !standing.reached ? await findPodTrouble(seed, target) : undefined;
      return { message: [sentence(target, standing), trouble].filter(Boolean).join(": "), codes };
    },

    syncCluster: chore(async (hands, run) => syncCluster(hands.seed, run, await readGardenObjects(garden, run))),
    removeCluster: chore((hands, run) => hands.seed.remove(clusterRef(run))),
    async initializeShootClients(run) {
      const answer = await (await shootClients.get(run.technicalID)).get("/readyz");
      if (answer !== "ok") throw new StepError(`the Shoot's API server is not ready: ${String(answer)}`);
    },
    cleanWebhooks: cleaning("webhooks"),
    cleanExtendedApis: cleaning("extendedApis"),
    cleanKubernetesResources: cleaning("kubernetesResources"),

    async removeNamespace(run, step) {
      await shootClients.forget(run.technicalID);
      return removeNamespace(hands(run).seed, waits, run, step);
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
  await removeAnnotated(seed, namespaceRef(run), waits.registration(target));
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

const readNamespace = (seed: KubeClient, run: ShootRun) => seed.read<KubeObject>(namespaceRef(run));

const namespaceRef = (run: ShootRun) => ({ apiVersion: "v1", kind: "Namespace", name: run.technicalID });
