import { Context } from "@temporalio/activity";
import type { ApplicationFailure } from "@temporalio/common";
import { Worker } from "@temporalio/worker";
import type {
  GardenActivities,
  OperationStatus,
  SeedActivities,
  ShootView,
  WaitTarget,
} from "../../src/activities/index.ts";
import { park } from "../../src/activities/shoot/park.ts";
import { shootRequests, unanswered } from "../../src/api/requests.ts";
import type { ShootRef, ShootRun } from "../../src/api/shoot/run.ts";
import { createOperations } from "../../src/client/operations.ts";
import { createShootClient, type ShootClient } from "../../src/client/shoots.ts";
import { seedQueue, shootWorkflowId } from "../../src/workflows/contract.ts";
import { startGardenWorker, type DeployedBuild, type GardenWorker } from "./garden-worker.ts";
import { shootRun } from "./shoot-run.ts";
import { startTemporal, type TemporalOptions, type TemporalServer } from "./temporal.ts";

/** The world as the activities of one Shoot find it; tests change it while flows run. */
export interface World {
  readonly ref: ShootRef;
  readonly view: { -readonly [Key in keyof ShootView]?: ShootView[Key] | undefined };
  status?: OperationStatus;
  /** Every activity that ran, with its first telling argument. */
  readonly calls: string[];
  /** What a call fails with, for as long as it is here. */
  fail: Record<string, ApplicationFailure | undefined>;
  /** Calls that do not return for as long as they are here. */
  readonly hold: Set<string>;
  /** The steps that a survey finds settled. */
  settled: readonly string[];
  /** Ends the Shoot's workflow: the Shoot is gone. */
  gone(): Promise<void>;
}

/** A real Temporal server, our workflows, and activities that act on a world in memory, passed in at the worker's seam. */
export interface FlowLab extends Pick<TemporalServer, "client" | "address"> {
  /** Backs Temporal's database up. It is restored while no worker of the garden runs: what they remember is of later. */
  backUp: TemporalServer["backUp"];
  readonly shoots: ShootClient;
  world(change?: Partial<ShootRun>): World;
  /** Starts a worker of a build beside those that run, and returns when it is current, or stays beside the current one. */
  deploy(build?: DeployedBuild): Promise<GardenWorker>;
  /** Ends a seed's worker. */
  silence(seed: string): Promise<void>;
  /** Starts a seed's worker. */
  revive(seed: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the lab: one worker for the garden, of today's build unless told otherwise, and one for each of three seeds. */
export async function startFlowLab(
  options: TemporalOptions & { readonly build?: DeployedBuild } = {},
): Promise<FlowLab> {
  const temporal = await startTemporal(options);
  const worlds = new Map<string, World>();
  const shoots = createShootClient(temporal.client);
  const running = new Map<Worker, Promise<void>>();
  const revive = async (seed: string) => {
    const o = { connection: temporal.connection, taskQueue: seedQueue(seed), activities: seedActivities(worlds) };
    const worker = await Worker.create(o);
    running.set(worker, worker.run());
  };
  await Promise.all(["seed-1", "seed-2", "seed-3"].map(revive));
  const end = async (worker: Worker) => {
    worker.shutdown();
    await running.get(worker);
    running.delete(worker);
  };
  let count = 0;

  const gardenWorkers = new Set<GardenWorker>();
  const deploy = async (build?: DeployedBuild): Promise<GardenWorker> => {
    const worker = await startGardenWorker(temporal, { activities: gardenActivities(worlds, temporal) }, build);
    const deployed = {
      build: worker.build,
      async stop() {
        if (gardenWorkers.delete(deployed)) await worker.stop();
      },
    };
    gardenWorkers.add(deployed);
    return deployed;
  };
  await deploy(options.build);

  return {
    deploy,
    client: temporal.client,
    address: temporal.address,
    async backUp() {
      const backup = await temporal.backUp();
      return {
        async restore() {
          await Promise.all([...gardenWorkers].map((worker) => worker.stop()));
          await backup.restore();
          await deploy(options.build);
        },
      };
    },
    shoots,
    world(change = {}) {
      const run = shootRun({ uid: `uid-${(count += 1)}`, name: `shoot-${count}`, ...change });
      const world = createWorld(run, shoots, temporal);
      worlds.set(run.uid, world);
      return world;
    },
    silence: async (seed) => {
      for (const worker of running.keys()) if (worker.options.taskQueue === seedQueue(seed)) await end(worker);
    },
    revive,
    async stop() {
      await Promise.all([...[...gardenWorkers].map((worker) => worker.stop()), ...[...running.keys()].map(end)]);
      await temporal.stop();
    },
  };
}

function createWorld(run: ShootRun, shoots: ShootClient, temporal: TemporalServer): World {
  const { namespace, name, uid } = run;
  const ref = { namespace, name, uid };
  const { operation: _, ...facts } = run;
  const view = {
    generation: 1,
    observedGeneration: 0,
    deleting: false,
    finalizer: true,
    initialised: true,
    ignored: false,
    leftovers: [] as string[],
    syncPeriod: 3_600_000,
    run: facts,
  };
  return {
    ref,
    view,
    calls: [],
    fail: {},
    hold: new Set(),
    settled: [],
    async gone() {
      Object.assign(view, { gone: true });
      await shoots.nudge(ref);
      await temporal.client.workflow.getHandle(shootWorkflowId(ref)).result();
    },
  };
}

function gardenActivities(worlds: ReadonlyMap<string, World>, temporal: TemporalServer): GardenActivities {
  const of = ({ uid }: ShootRef) => found(worlds, uid);
  const operations = createOperations(temporal.client);
  return {
    async readShoot(ref) {
      const { view, fail } = of(ref);
      if (fail["readShoot"]) throw fail["readShoot"];
      return "gone" in view ? null : ({ ...view, run: { ...view.run, generation: view.generation } } as ShootView);
    },
    async beginOperation(run, request) {
      const world = of(run);
      world.calls.push(`beginOperation ${run.operation}`);
      world.view.observedGeneration = run.generation;
      if (request !== undefined && world.view.request === request)
        world.view.request = unanswered(request, shootRequests);
      note(world, run, "Processing");
    },
    async writeStatus(run, status) {
      const world = of(run);
      world.calls.push(`writeStatus ${status.state}`);
      if (world.fail["writeStatus"]) throw world.fail["writeStatus"];
      world.status = status;
      if (run.operation === "Restore" && status.state === "Succeeded") {
        world.view.moving = undefined;
        if (world.view.run) world.view.run = { ...world.view.run, migration: undefined } as never;
      }
      note(world, run, status.state);
    },
    reportProblem: async () => {},
    async acknowledgeRequest(ref, request, answered = shootRequests) {
      const { view } = of(ref);
      if (view.request === request) view.request = unanswered(request, answered);
    },
    async releaseShoot(ref) {
      const world = of(ref);
      world.calls.push("releaseShoot");
      Object.assign(world.view, { gone: true });
    },
    confirmLeadership: async (run) => void of(run).calls.push("confirmLeadership"),
    ensureLeadership: async (run) => void of(run).calls.push("ensureLeadership"),
    awaitLeases: (run) => act(of(run), "awaitLeases"),
    awaitRequiredExtensions: async (run) => act(of(run), "awaitRequiredExtensions"),
    checkMigration: async (run) => act(of(run), "checkMigration"),
    shareState: async (run) => act(of(run), "shareState"),
    async flip(run) {
      const world = of(run);
      await act(world, "flip");
      const { destination = "" } = run.migration ?? {};
      Object.assign(world.view.run ?? {}, { seedName: destination, epoch: run.epoch + 1 });
      world.view.moving = "Restore";
      world.view.leftovers = [run.seedName];
    },
    async leaveSeed(run) {
      const world = of(run);
      world.calls.push(`leaveSeed ${run.seedName}`);
      world.view.leftovers = [];
    },
    findOperation: async (ref) => (await operations.running(ref)) ?? null,
    endFlow: (workflowId, reason) => operations.end(workflowId, reason),
    park,
    async followFlow(workflowId) {
      const beat = setInterval(() => Context.current().heartbeat(), 1_000);
      await operations.ended(workflowId).finally(() => clearInterval(beat));
    },
  };
}

/** Notes the call, then fails or holds as the test wishes. */
async function act(world: World, call: string): Promise<void> {
  world.calls.push(call);
  for (;;) {
    const failure = world.fail[call];
    if (failure) throw failure;
    if (!world.hold.has(call)) return;
    Context.current().heartbeat();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function seedActivities(worlds: ReadonlyMap<string, World>): SeedActivities {
  /** Where a migration has two seeds, the call says which. */
  const called = ({ migration, seedName: seed }: ShootRun, call: string) => (migration ? `${call} in ${seed}` : call);
  const actIn = (run: ShootRun, call: string) => act(found(worlds, run.uid), called(run, call));
  const forRun = (name: string) => (run: ShootRun) => actIn(run, name);
  const target = (kind: string): WaitTarget[] => [
    {
      apiVersion: "v1",
      kind,
      name: "x",
      until: "ready",
      severeAfter: 0,
      deadline: 600_000,
    },
  ];
  const acting = (name: string) => async (run: ShootRun, kind: string) => {
    await actIn(run, `${name} ${kind}`);
    return target(kind);
  };
  const waiting = (name: string) => async (run: ShootRun) => {
    await actIn(run, name);
    return target(name);
  };
  return {
    async survey(run, steps) {
      await actIn(run, "survey");
      const { settled } = found(worlds, run.uid);
      return Object.keys(steps).filter((step) => settled.includes(step));
    },
    deployComponent: acting("deployComponent"),
    destroyComponent: acting("destroyComponent"),
    applyExtension: acting("applyExtension"),
    removeExtension: acting("removeExtension"),
    removeNamespace: async () => [],
    migrateExtension: acting("migrateExtension"),
    restoreExtension: acting("restoreExtension"),
    stopWorkload: acting("stopWorkload"),
    stopWorkloads: waiting("stopWorkloads"),
    lowerTtl: waiting("lowerTtl"),
    warmUpImages: waiting("warmUpImages"),
    takeSnapshot: waiting("takeSnapshot"),
    keepSnapshot: forRun("keepSnapshot"),
    prepareEtcd: waiting("prepareEtcd"),
    listSnapshots: waiting("listSnapshots"),
    checkNewestSnapshot: waiting("checkNewestSnapshot"),
    keepNewestSnapshot: forRun("keepNewestSnapshot"),
    restoreEtcdVolume: waiting("restoreEtcdVolume"),
    finishEtcdVolume: forRun("finishEtcdVolume"),
    confirmEtcdDamage: forRun("confirmEtcdDamage"),
    stopDamagedApiServer: waiting("stopDamagedApiServer"),
    stopDamagedEtcd: waiting("stopDamagedEtcd"),
    restoreEtcdData: waiting("restoreEtcdData"),
    switchEtcdData: forRun("switchEtcdData"),
    announceLeader: forRun("announceLeader"),
    announceHandover: forRun("announceHandover"),
    raiseFence: forRun("raiseFence"),
    abandonExtensions: forRun("abandonExtensions"),
    checkSource: forRun("checkSource"),
    persistState: forRun("persistState"),
    removeState: forRun("removeState"),
    restoreKeptSecrets: forRun("restoreKeptSecrets"),
    waitFor: (run, targets) => actIn(run, `waitFor ${targets.map(({ kind }) => kind).join(", ")}`),
    explainWait: async () => ({ message: "late", codes: [] }),
    deploySecrets: forRun("deploySecrets"),
    deployCloudProviderSecret: forRun("deployCloudProviderSecret"),
    deployNodeAgentSecrets: forRun("deployNodeAgentSecrets"),
    removeStaleConfigs: forRun("removeStaleConfigs"),
    forgetMachineState: forRun("forgetMachineState"),
    deployReferencedResources: forRun("deployReferencedResources"),
    removeStaleExtensions: async (run) => {
      await forRun("removeStaleExtensions")(run);
      return [];
    },
    removeStaleResources: forRun("removeStaleResources"),
    removeStaleResourceManagerWebhooks: forRun("removeStaleResourceManagerWebhooks"),
    removeUnusedResourceManager: waiting("removeUnusedResourceManager"),
    awaitManagedResources: waiting("awaitManagedResources"),
    removeManagedResources: waiting("removeManagedResources"),
    removeBastions: waiting("removeBastions"),
    publishInfrastructure: forRun("publishInfrastructure"),
    publishAddress: forRun("publishAddress"),
    encryptResources: forRun("encryptResources"),
    publishKubeconfig: forRun("publishKubeconfig"),
    syncCluster: forRun("syncCluster"),
    releaseManagedResources: forRun("releaseManagedResources"),
    initializeShootClients: forRun("initializeShootClients"),
    checkTunnel: forRun("checkTunnel"),
    checkRoutes: forRun("checkRoutes"),
    cleanWebhooks: forRun("cleanWebhooks"),
    cleanExtendedApis: forRun("cleanExtendedApis"),
    cleanKubernetesResources: forRun("cleanKubernetesResources"),
    removeCluster: forRun("removeCluster"),
    async answer() {
      const { workflowExecution, taskQueue } = Context.current().info;
      const [, , , uid = ""] = workflowExecution?.workflowId.split("/") ?? []; // it is told of no Shoot
      await act(found(worlds, uid), `answer in ${taskQueue.replace("seed-", "")}`);
    },
    readControlPlane: async () => ({ namespaceUsable: true, cleanable: false, controlPlaneNeeded: false }),
  };
}

function note(world: World, run: ShootRun, state: string): void {
  world.view.lastOperation = { type: run.operation, state, lastUpdateTime: new Date().toISOString() };
}

function found(worlds: ReadonlyMap<string, World>, uid: string): World {
  const world = worlds.get(uid);
  if (world === undefined) throw new Error(`no world of ${uid}`);
  return world;
}
