import { afterAll, afterEach, expect } from "vitest";
import { createInstallationGardenActivities } from "../../src/activities/installation/garden.ts";
import { createHelm } from "../../src/activities/installation/helm.ts";
import { manifestsIn } from "../../src/activities/installation/managed-resource.ts";
import { createInstallationSeedActivities } from "../../src/activities/installation/seed.ts";
import {
  ControllerInstallation,
  ControllerRegistration,
  ManagedResource,
  Shoot,
  type KubeObject,
} from "../../src/api/index.ts";
import type { InstallationRef, InstallationRun } from "../../src/api/registration/run.ts";
import { createRegistrationController } from "../../src/controllers/registration/registration.ts";
import { runFlow } from "../../src/flow/flow.ts";
import { isNotFound, refOf, refTo, Secret, type KubeClient, type Occurrence } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import type { InstallationFlow } from "../../src/workflows/installation/actions.ts";
import { handOver } from "../../src/workflows/installation/hand-over.ts";
import { install } from "../../src/workflows/installation/install.ts";
import { uninstall } from "../../src/workflows/installation/uninstall.ts";
import { findBinary } from "./binary.ts";
import { deploymentTemplate, packageChart, sayApplied } from "./charts.ts";
import type { extendingTest, ownClusterTest } from "./cluster-test.ts";
import { applyGarden } from "./garden-objects.ts";
import { eventually } from "./eventually.ts";

const garden = "garden";

/** A chart of one Deployment. */
export const smallChart = await packageChart({ "templates/deployment.yaml": deploymentTemplate });

/** Waits for what controllers do. */
export const soon = <T>(look: () => Promise<T>) => eventually(look);

/** A deployment in the shape that a registration carries itself. */
export const inline = (packaged = smallChart, values: object = { foo: "bar" }) => ({
  type: "helm",
  providerConfig: { chart: packaged, values },
});

/** What a file does itself. */
interface OwnParts {
  /** It runs a resource manager: nothing is said in its place. */
  readonly resourceManager?: true;
  /** Done before each step of a flow. */
  readonly beforeStep?: () => Promise<void>;
}

/**
 * One cluster as garden and seed-1, with the manager's controller of registrations, and flows that run without Temporal. What the
 * resource manager would say is said at once. After each test no registration is left.
 */
export function useInstallations(test: typeof extendingTest | ReturnType<typeof ownClusterTest>, own: OwnParts = {}) {
  const nudged: InstallationRef[] = [];
  const told: Occurrence[] = [];
  let client: KubeClient;
  let manager: NodeJS.Timeout | undefined;
  let controller: ReturnType<typeof createRegistrationController>;

  test.beforeAll(async ({ cluster }) => {
    client = cluster.client;
    await applyGarden(client);
    await client.remove(refTo(ControllerRegistration, { name: "provider-local" }));
    controller = createRegistrationController({
      gardenClient: client,
      flows: { nudge: async (ref) => void nudged.push(ref) },
      events: { record: (occurrence) => void told.push(occurrence) },
      log: createLogger({ name: "test", level: "silent" }),
    });
    controller.start();
    if (own.resourceManager === true) return;
    manager = setInterval(() => void playResourceManager(client).catch(() => {}), 100); // others may be faster
  });
  afterAll(async () => {
    clearInterval(manager);
    await controller.stop();
  });
  afterEach(async () => {
    for (const shoot of await client.list(Shoot)) await client.remove(refOf(shoot));
    // The controller may take one away at the same time.
    for (const { metadata } of await client.list(ControllerInstallation))
      await client
        .patch(refTo(ControllerInstallation, { name: metadata.name }), { metadata: { finalizers: null } })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
    for (const registration of await client.list(ControllerRegistration)) await client.remove(refOf(registration));
    await soon(async () => expect(await client.list(ControllerRegistration)).toEqual([]));
    await soon(async () => expect(await client.list(ControllerInstallation)).toEqual([]));
  });

  const register = (name: string, deployment: object, resources: object[] = [{ kind: "Network", type: "local" }]) =>
    client.apply({
      apiVersion: "core.gardener.cloud/v1beta1",
      kind: "ControllerRegistration",
      metadata: { name },
      spec: { resources, deployment },
    } as unknown as ControllerRegistration);

  /** The installation of a registration on seed-1, once there is one. */
  const installationOf = (registration: string) =>
    soon(async () => {
      const all = await client.list(ControllerInstallation);
      const found = all.find(({ spec }) => spec.registrationRef.name === registration);
      if (found === undefined) throw new Error(`there is no installation of ${registration} yet`);
      return found;
    });

  const conditionsOf = async (registration: string) => {
    const { status } = await installationOf(registration);
    return Object.fromEntries(
      (status?.conditions ?? []).map(({ type, status: how, reason, message }) => [
        type,
        { status: how, reason, message },
      ]),
    );
  };

  const activities = async () => {
    const periods = { seedDeadline: 60_000, retryDuration: 60_000 };
    return {
      garden: createInstallationGardenActivities({ gardenClient: client, periods }),
      seed: createInstallationSeedActivities({
        gardenClient: client,
        seedClient: client,
        helm: createHelm({ binary: await findBinary("helm") }),
        gardenAddress: { server: "https://garden.example.org", ca: "CA" },
      }),
    };
  };

  /** Runs the flow that the installation asks for, each step until it succeeds, but at most `limit` ms. */
  async function carryOut(registration: string, limit = 0): Promise<InstallationRun | undefined> {
    const { metadata } = await installationOf(registration);
    const { garden: inGarden, seed: inSeed } = await activities();
    const view = await inGarden.readInstallation({ name: metadata.name, uid: metadata.uid ?? "" });
    if (view === null || view.installed === true) return undefined;
    const { run } = view;
    await runFlow(flowFor(run), run, {
      async carryOut(action) {
        await own.beforeStep?.();
        await retrying(
          () => (action.where === "garden" ? inGarden[action.activity](run) : inSeed[action.activity](run)),
          limit,
        );
      },
    });
    return run;
  }

  const failureOf = async (registration: string): Promise<string> => {
    try {
      await carryOut(registration);
    } catch (error) {
      const [failure] = (error as { readonly failures: ReadonlyMap<string, Error> }).failures.values();
      return failure?.message ?? "";
    }
    throw new Error("the flow did not fail");
  };

  const managedResource = (name: string) => client.read(ManagedResource, { namespace: garden, name });

  async function manifestsOf(name: string): Promise<readonly KubeObject[]> {
    const { secretRefs = [] } = (await managedResource(name))?.spec ?? {};
    const parts = secretRefs.map(async ({ name: part }) => {
      const secret = await client.read(Secret, { namespace: garden, name: part });
      return secret === undefined ? [] : await manifestsIn(secret);
    });
    return (await Promise.all(parts)).flat();
  }

  return {
    ...{
      nudged,
      told,
      register,
      installationOf,
      conditionsOf,
      activities,
      carryOut,
      failureOf,
      managedResource,
      manifestsOf,
    },
  };
}

function flowFor({ operation, replaced }: InstallationRun): InstallationFlow {
  if (operation !== "Delete") return install;
  return replaced === true ? handOver : uninstall;
}

/** Tries again while there is time; throws what was thrown last. */
async function retrying(work: () => Promise<unknown>, limit: number): Promise<void> {
  for (const end = Date.now() + limit; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    try {
      return void (await work());
    } catch (error) {
      if (Date.now() >= end) throw error;
    }
  }
}

/** The resource manager's part: says that all is well of whatever it is given. */
async function playResourceManager(client: KubeClient): Promise<void> {
  for (const resource of await client.list(ManagedResource, { namespace: garden }))
    if (resource.status?.observedGeneration !== resource.metadata.generation) await sayApplied(client, resource);
}
