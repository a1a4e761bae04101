import { heartbeat } from "./temporal.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import { Namespace, refTo, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { cleanUpLimits } from "./teardown/clean-up-limits.ts";
import { createResourceCleaner, type ResourceCleaner } from "./teardown/shoot-resources.ts";
import { clusterRef, readGardenObjects, syncCluster } from "./control-plane/cluster.ts";
import { removeBastions } from "./extensions/bastions.ts";
import { listExtensionObjects } from "./extensions/list.ts";
import { withMendedCredentials } from "./extensions/mended-credentials.ts";
import { forgetMachineState } from "./machines/forgetting.ts";
import { abandonMachines } from "./teardown/abandonment.ts";
import { readControlPlane } from "./teardown/control-plane-left.ts";
import { sparingSystem } from "./control-plane/system-namespace.ts";
import { onlyInOwnNamespace, removeEarlierCluster } from "./control-plane/earlier-shoot.ts";
import { guarded } from "./failure.ts";
import { StepError } from "./step-error.ts";
import type { ActingActivities, SeedActivities, WaitTarget } from "./index.ts";
import { createSourceCheck } from "./shoot/migration-check.ts";
import { createNodeWaits } from "./waits/node-waits.ts";
import { createSeedServices, type SeedServices, type SeedServiceDeps } from "./seed-services.ts";
import { findNodeTrouble } from "./waits/node-trouble.ts";
import { createObstacles } from "./waits/obstacles.ts";
import { lookingAMoment } from "./waits/soon.ts";
import { sparing } from "./survey/sparing.ts";
import { createAnswers, type Answers } from "./survey/answers.ts";
import { createSurvey, type Survey } from "./survey/survey.ts";
import { removeAnnotated } from "./teardown/removal.ts";
import { routeReadiness, tunnelReadiness, type ReachClient } from "./waits/pod-reach.ts";
import type { Readiness } from "./waits/readiness.ts";
import type { Completer, Waits } from "./waits/waits.ts";

/** Adds what completes waits from outside: `completer` is Temporal's client. */
export interface SeedDeps extends SeedServiceDeps {
  readonly completer: Completer;
  readonly log: Logger;
}

/** Looks what steps would do in a seed; `readiness` says how what they would wait for stands. */
export function createSeedSurvey(
  deps: SeedDeps,
  readiness: (deps: SeedDeps) => ReadinessOf,
  answers?: Answers,
): Survey {
  const activities = (looking: SeedDeps) => createActivities(looking, createNodeWaits(looking));
  return createSurvey({ deps, activities, readiness, answers });
}

/** The activities of queue `seed-<name>`. Whatever they write into a Shoot's namespace carries the epoch of its run. */
export function createSeedActivities(deps: SeedDeps): SeedActivities {
  const { seedClient, shootClients, waits, completer, log } = deps;
  const nodeWaits = createNodeWaits({ seedClient, shootClients, completer, log });
  // Rows that run look at what those before them have just written: only a periodic look goes by what is known.
  const exact = createSeedSurvey(deps, readinessFrom);
  const periodic = createSeedSurvey(deps, readinessFrom, createAnswers());
  const activities: SeedActivities = {
    ...lookingAMoment(sparing(createActivities(deps, nodeWaits), exact), waits.soon),
    async survey(run, steps) {
      const findings = [...(await periodic(run, steps))];
      const due = findings.flatMap(([step, found]) => (found.settled ? [] : [[step, found.why]]));
      log.debug({ shoot: `${run.namespace}/${run.name}`, due: Object.fromEntries(due) }, "surveyed");
      return findings.flatMap(([step, { settled }]) => (settled ? [step] : []));
    },
  };
  return guarded<SeedActivities>(sparingSystem(onlyInOwnNamespace(seedClient, activities)));
}

type ReadinessOf = (run: ShootRun, target: WaitTarget) => Promise<Readiness>;

/** How what is waited for stands: nodes in the Shoot, the rest as the seed's watches have it. */
function readinessFrom(deps: SeedDeps, nodeWaits = createNodeWaits(deps)): ReadinessOf {
  return async (run, target) =>
    target.until === "nodesReady" ? await nodeWaits.readiness(run, target) : deps.waits.readiness(target);
}

/** What acts, each time that it is called. */
function createActivities(deps: SeedDeps, nodeWaits: ReturnType<typeof createNodeWaits>): ActingActivities {
  const { gardenClient, seedClient, shootClients, waits } = deps;
  const obstacles = createObstacles({
    ...{ seedClient, readinessOf: readinessFrom(deps, nodeWaits) },
    nodeTrouble: async ({ technicalID: namespace }) =>
      await findNodeTrouble({ shootClient: await shootClients.get(namespace), seedClient, namespace }),
  });
  const services = createSeedServices(deps);
  const forRun = (work: (services: SeedServices, run: ShootRun) => Promise<void>) => (run: ShootRun) =>
    work(services(run), run);
  const mended = (ask: ActingActivities["applyExtension"]) =>
    withMendedCredentials(
      {
        seen: waits.seen,
        list: (run, kind) => listExtensionObjects(seedClient, run, kind),
        copy: (run) => services(run).provisioning.deployCloudProviderSecret(run),
        copyReferences: (run) => services(run).references.deploy(run),
        copyDns: (run, purpose) =>
          services(run).extensions.renewDnsCredentials(run, purpose === "external" ? "external" : "internal"),
      },
      ask,
    );
  const cleaning = (phase: keyof ResourceCleaner) => async (run: ShootRun) => {
    const { shoot } = await readGardenObjects(gardenClient, run);
    const cleaner = createResourceCleaner(
      await shootClients.get(run.technicalID),
      cleanUpLimits(shoot.metadata),
      heartbeat,
    );
    await cleaner[phase]();
  };

  /** Throws unless the Shoot's API server reaches what it is asked to reach. */
  const reaching = (look: (shoot: ReachClient) => Promise<Readiness>) => async (run: ShootRun) => {
    const readiness = await look(await shootClients.get(run.technicalID));
    if (!readiness.reached) throw new StepError(readiness.message);
  };

  return {
    async deployComponent(run, component, step) {
      const { components, backup, managedResources } = services(run);
      // Of a run that has begun with an earlier release: its flow has no step for it.
      if (component === "resource-manager") await managedResources.release(run);
      if (component === "namespace") await removeEarlierCluster(seedClient, run);
      if (component === "etcd-backup") await backup.checkPlace(run);
      return await components.deploy(run, component, step);
    },
    awaitManagedResources: (run, step) => services(run).managedResources.awaitHealthy(run, step),
    releaseManagedResources: forRun(({ managedResources }, run) => managedResources.release(run)),
    removeManagedResources: (run, step) => services(run).managedResources.remove(run, step),
    removeUnusedResourceManager: (run, step) => services(run).removeUnusedResourceManager(run, step),
    removeStaleResourceManagerWebhooks: forRun(({ components }, run) => components.removeStaleWebhooks(run)),
    destroyComponent: (run, component, step) => services(run).components.destroy(run, component, step),
    applyExtension: mended((run, kind, step, purpose) => services(run).extensions.apply(run, kind, step, purpose)),
    removeExtension: mended((run, kind, step, purpose) => services(run).extensions.remove(run, kind, step, purpose)),
    removeStaleConfigs: forRun(({ extensions }, run) => extensions.removeStale(run, "OperatingSystemConfig")),
    deployReferencedResources: forRun(({ references }, run) => references.deploy(run)),
    removeStaleExtensions: (run, step) => services(run).extensions.removeStaleExtensions(run, step),
    removeStaleResources: forRun(({ references }, run) => references.removeStale(run)),

    migrateExtension: mended((run, kind, step, purpose) => services(run).moves.migrate(run, kind, step, purpose)),
    restoreExtension: mended(async (run, kind, step, purpose) => {
      const { moves, backup } = services(run);
      const targets = await moves.restore(run, kind, step, purpose);
      return kind === "BackupEntry" ? [...targets, ...(await backup.copySnapshot(run, step))] : targets;
    }),
    forgetMachineState: forRun((services, run) => forgetMachineState(services.seedClient, run)),
    lowerTtl: (run, step) => services(run).extensions.lowerTtl(run, step),
    announceLeader: forRun(({ fence }, run) => fence.announceLeader(run)),
    announceHandover: forRun(({ fence }, run) => fence.announceHandover(run)),
    raiseFence: forRun(({ fence }, run) => fence.raiseFence(run)),
    stopWorkload: (run, component, step) => services(run).decommissioning.stopWorkload(run, component, step),
    stopWorkloads: (run, step) => services(run).decommissioning.stopWorkloads(run, step),
    abandonExtensions: forRun(({ decommissioning }, run) => decommissioning.abandonExtensions(run)),

    warmUpImages: (run, step) => services(run).backup.warmUpImages(run, step),
    takeSnapshot: (run, step) => services(run).backup.takeSnapshot(run, step),
    keepSnapshot: forRun(({ backup }, run) => backup.keepSnapshot(run)),
    async prepareEtcd(run, step) {
      await services(run).backup.createEtcdVolume(run);
      return await services(run).components.deployEtcdEvents(run, step);
    },
    listSnapshots: (run, step) => services(run).backup.listSnapshots(run, step),
    async checkNewestSnapshot(run, step) {
      const { backup } = services(run);
      await backup.checkPlace(run);
      return await backup.checkNewestSnapshot(run, step);
    },
    keepNewestSnapshot: forRun(({ backup }, run) => backup.keepNewestSnapshot(run)),
    async restoreEtcdVolume(run, step) {
      const { backup } = services(run);
      await backup.checkPlace(run);
      return await backup.restoreEtcdVolume(run, step);
    },
    finishEtcdVolume: forRun(({ backup }, run) => backup.finishEtcdVolume(run)),
    confirmEtcdDamage: forRun(({ etcdRepair }, run) => etcdRepair.confirmEtcdDamage(run)),
    stopDamagedApiServer: (run, step) => services(run).etcdRepair.stopDamagedApiServer(run, step),
    stopDamagedEtcd: (run, step) => services(run).etcdRepair.stopDamagedEtcd(run, step),
    async restoreEtcdData(run, step) {
      const { backup, etcdRepair } = services(run);
      if (run.hasBackup) await backup.checkPlace(run);
      return await etcdRepair.restoreEtcdData(run, step);
    },
    switchEtcdData: forRun(({ etcdRepair }, run) => etcdRepair.switchEtcdData(run)),

    async checkSource(run) {
      await createSourceCheck({ seedClient })(run);
      await services(run).state.checkState(run);
      // Extensions that read of a failed operation before this one would let none of what follows pass.
      await syncCluster(services(run).seedClient, run, await readGardenObjects(gardenClient, run));
    },
    persistState: forRun(({ state }, run) => state.persistState(run)),
    removeState: forRun(({ state }, run) => state.removeState(run)),
    restoreKeptSecrets: forRun(({ state }, run) => state.restoreSecrets(run)),

    deploySecrets: forRun(({ provisioning }, run) => provisioning.deploySecrets(run)),
    deployCloudProviderSecret: forRun(({ provisioning }, run) => provisioning.deployCloudProviderSecret(run)),
    deployNodeAgentSecrets: forRun(({ provisioning }, run) => provisioning.deployNodeAgentSecrets(run)),
    publishInfrastructure: forRun(({ publishing }, run) => publishing.publishInfrastructure(run)),
    publishAddress: forRun(({ publishing }, run) => publishing.publishAddress(run)),
    encryptResources: forRun(({ encryption }, run) => encryption.encryptResources(run)),
    publishKubeconfig: forRun(({ publishing }, run) => publishing.publishKubeconfig(run)),

    async waitFor(run, targets, told = []) {
      await obstacles.tell(run, targets, told);
      const [first] = targets;
      if (first?.until === "nodesReady") return await nodeWaits.wait(run, first);
      waits.wait(targets);
    },
    explainWait: (run, targets) => obstacles.explain(run, targets),

    syncCluster: forRun(async (services, run) => {
      await removeEarlierCluster(seedClient, run);
      await syncCluster(services.seedClient, run, await readGardenObjects(gardenClient, run));
    }),
    removeCluster: forRun((services, run) => services.seedClient.remove(clusterRef(run))),
    async initializeShootClients(run) {
      const answer = await (await shootClients.get(run.technicalID)).get("/readyz");
      if (answer !== "ok") throw new StepError(`the Shoot's API server is not ready: ${String(answer)}`);
    },
    checkTunnel: reaching((shoot) => tunnelReadiness(shoot, 5_000)),
    checkRoutes: reaching((shoot) => routeReadiness(shoot, { patience: 5_000 })),
    cleanWebhooks: cleaning("webhooks"),
    cleanExtendedApis: cleaning("extendedApis"),
    cleanKubernetesResources: cleaning("kubernetesResources"),

    removeBastions: (run, step) => removeBastions({ seedClient: services(run).seedClient, waits }, run, step),
    async removeNamespace(run, step) {
      await shootClients.forget(run.technicalID);
      if (run.forced === true) await abandonMachines(services(run).seedClient, run);
      return removeNamespace(services(run).seedClient, waits, run, step);
    },
    readControlPlane: (run) => readControlPlane(seedClient, run),
    answer: async () => void (await seedClient.get("/readyz")),
  };
}

async function removeNamespace(
  seedClient: KubeClient,
  waits: Waits,
  run: ShootRun,
  step: string,
): Promise<WaitTarget[]> {
  const namespace = await readNamespace(seedClient, run);
  if (namespace === undefined) return [];
  const target: WaitTarget = {
    apiVersion: "v1",
    kind: "Namespace",
    name: run.technicalID,
    until: "gone",
    severeAfter: 900_000,
    deadline: 900_000,
  };
  await removeAnnotated(seedClient, namespace, waits.group(step, 1).registration(target, namespace.metadata.uid));
  return [target];
}

const readNamespace = (seedClient: KubeClient, run: ShootRun) => seedClient.read(namespaceRef(run));

const namespaceRef = (run: ShootRun) => refTo(Namespace, { name: run.technicalID });
