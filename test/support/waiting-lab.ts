import { fileURLToPath } from "node:url";
import { CompleteAsyncError } from "@temporalio/activity";
import { Worker } from "@temporalio/worker";
import type { GardenActivities, SeedActivities } from "../../src/activities/index.ts";
import { Infrastructure } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { createSeedActivities } from "../../src/activities/seed.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import { formatRegistration, type Registration } from "../../src/activities/waits/registration.ts";
import { createSigner } from "../../src/activities/waits/signature.ts";
import { createWaits, type Completer, type Waits } from "../../src/activities/waits/waits.ts";
import { createCompleter } from "../../src/client/completer.ts";
import { refTo, type KubeClient, type ObjectRef } from "../../src/kube/index.ts";
import { createLogger, type Logger } from "../../src/log.ts";
import { createSeedWorker } from "../../src/worker/seed.ts";
import { gardenQueue } from "../../src/workflows/contract.ts";
import { applyCrds } from "./crds.ts";
import { startControlPlane } from "./control-plane.ts";
import { applyGarden } from "./garden-objects.ts";
import { startTemporal, type TemporalServer } from "./temporal.ts";
import { newKeyring } from "./state-keys.ts";

/** A real API server that is garden and seed at once, a real Temporal server, and our waits between them. */
export interface WaitingLab extends Pick<TemporalServer, "client"> {
  readonly kube: KubeClient;
  /** What the watching process has warned of. */
  readonly warnings: readonly string[];
  /** The annotation of a registration, as this worker would write it. */
  sign(registration: Registration): string;
  /** What tests change while waits run. */
  readonly knobs: Knobs;
  /** Stops watching; all that the watching process knew is lost. */
  forget(): Promise<void>;
  /** Watches again, as a new process would. */
  watch(): Promise<void>;
  stop(): Promise<void>;
}

interface Knobs {
  /** In ms; instead of Gardener's minutes. */
  severeAfter: number;
  /** Awaited after an object was applied, before anybody waits for it. */
  applied: () => Promise<void>;
  /** Tasks to wait are lost once Temporal has handed them out. */
  losing: boolean;
  /** Awaited before an activity is completed or failed from outside. */
  completing: () => Promise<void>;
}

/** Starts both servers and the workers; one for the workflow of this lab, one for a seed. */
export async function startWaitingLab(): Promise<WaitingLab> {
  const [controlPlane, temporal] = await Promise.all([startControlPlane(), startTemporal()]);
  const { client: kube } = controlPlane;
  await applyCrds(kube);
  await applyGarden(kube);
  const warnings: string[] = [];
  const log = listening(warnings);
  const keys = newKeyring();
  const knobs: Knobs = { severeAfter: 600_000, losing: false, applied: async () => {}, completing: async () => {} };
  const completer = hesitant(createCompleter(temporal.client), knobs);
  const signer = createSigner(keys.own);
  const startWaits = () => createWaits({ client: kube, completer, signer, log });
  let waits = startWaits();
  const watch = async () => {
    waits = startWaits();
    waits.start();
    await waits.synced();
  };
  await watch();

  const deps = {
    gardenClient: kube,
    seedClient: kube,
    shootClients: createShootClients(kube, log),
    completer,
    keys,
    log,
  };
  const seedActivities = createSeedActivities({ ...deps, waits: current(() => waits, knobs) });
  const activities: SeedActivities = {
    ...seedActivities,
    async applyExtension(...args) {
      const targets = await seedActivities.applyExtension(...args);
      await knobs.applied();
      return targets;
    },
    async waitFor(...args) {
      if (knobs.losing) throw new CompleteAsyncError();
      await seedActivities.waitFor(...args);
    },
  };
  const workers = await Promise.all([
    Worker.create({
      connection: temporal.connection,
      taskQueue: gardenQueue,
      workflowsPath: fileURLToPath(new URL("waiting-workflow.ts", import.meta.url)),
      activities: { writeStatus: async () => {} } satisfies Partial<GardenActivities>,
    }),
    createSeedWorker({ connection: temporal.connection, namespace: "default", seedName: "seed-1", activities }),
  ]);
  const running = workers.map((worker) => worker.run());

  return {
    client: temporal.client,
    kube,
    warnings,
    sign: (registration) => formatRegistration(registration, signer),
    knobs,
    watch,
    forget: () => waits.stop(),
    async stop() {
      workers.forEach((worker) => worker.shutdown());
      await Promise.all(running);
      await waits.stop();
      await Promise.all([temporal.stop(), controlPlane.stop()]);
    },
  };
}

/** A log of which the warnings are kept. */
function listening(warnings: string[]): Logger {
  const log = createLogger({ name: "test", level: "silent" });
  log.warn = (...[fields]: unknown[]) => void warnings.push(JSON.stringify(fields));
  return log;
}

/** Says what an extension's controller would say about the operation it was asked for last. */
export async function answer(kube: KubeClient, run: ShootRun, status: Answer = {}): Promise<void> {
  await answerFor(kube, infrastructureOf(run), status);
}

/** What a controller says; a Create that has succeeded now, unless told otherwise. */
interface Answer {
  readonly type?: string;
  readonly state?: string;
  readonly lastError?: { description: string; codes?: string[] };
  readonly lastUpdateTime?: string;
}

/** The same of any extension object. */
export async function answerFor(kube: KubeClient, ref: ObjectRef, status: Answer): Promise<void> {
  const { metadata } = await kube.patch(ref, {
    metadata: { annotations: { "gardener.cloud/operation": null } },
  });
  const lastUpdateTime = status.lastUpdateTime ?? new Date().toISOString().replace(/\.\d+Z$/, "Z");
  const lastOperation = {
    type: status.type ?? "Create",
    state: status.state ?? "Succeeded",
    progress: 100,
    description: "done",
    lastUpdateTime,
  };
  const { generation: observedGeneration } = metadata;
  await kube.patch(
    ref,
    { status: { observedGeneration, lastOperation, lastError: status.lastError ?? null } },
    { subresource: "status" },
  );
}

/** The Shoot's Infrastructure. */
export const infrastructureOf = ({ technicalID, name }: ShootRun) =>
  refTo(Infrastructure, { namespace: technicalID, name });

/** The waits of whatever process watches now. */
function current(waits: () => Waits, knobs: Knobs): Waits {
  return {
    start: () => waits().start(),
    synced: () => waits().synced(),
    group(step, size) {
      const group = waits().group(step, size);
      return {
        registration: (target, uid) => group.registration({ ...target, severeAfter: knobs.severeAfter }, uid),
      };
    },
    soon: (targets) => waits().soon(targets),
    wait: (targets) => waits().wait(targets),
    readiness: (target) => waits().readiness(target),
    seen: (ref) => waits().seen(ref),
    stop: () => waits().stop(),
  };
}

function hesitant(completer: Completer, knobs: Knobs): Completer {
  return {
    async complete(waiter) {
      await knobs.completing();
      return completer.complete(waiter);
    },
    async fail(waiter, error) {
      await knobs.completing();
      return completer.fail(waiter, error);
    },
  };
}
