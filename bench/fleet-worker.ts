import { hostname } from "node:os";
import { NativeConnection } from "@temporalio/worker";
import { createGardenActivities } from "../src/activities/garden.ts";
import { listedShoots } from "../src/activities/shoot/garden-shoots.ts";
import { createSeedActivities } from "../src/activities/seed.ts";
import type { ShootClients } from "../src/activities/shoot/clients.ts";
import { parseStateKeys } from "../src/activities/state/keys.ts";
import { createSigner } from "../src/activities/waits/signature.ts";
import { createWaits } from "../src/activities/waits/waits.ts";
import { createBuilds } from "../src/client/builds.ts";
import { createCompleter } from "../src/client/completer.ts";
import { connectTemporal } from "../src/client/connect.ts";
import { createOperations } from "../src/client/operations.ts";
import { createShootClient } from "../src/client/shoots.ts";
import { createShootController } from "../src/controllers/shoot.ts";
import { createLeaderLookup, createZoneServers } from "../src/dns/index.ts";
import { createKubeClient, type KubeClient } from "../src/kube/index.ts";
import { createLogger } from "../src/log.ts";
import { buildWorkflows } from "../src/worker/build.ts";
import { createCare } from "../src/worker/care.ts";
import { createGardenWorker } from "../src/worker/garden.ts";
import { createKubeconfigs } from "../src/worker/kubeconfigs.ts";
import { createMirror } from "../src/worker/mirror/mirror.ts";
import { createSeedWorker } from "../src/worker/seed.ts";
import { createSeedStatus } from "../src/worker/seed-status.ts";
import { eventually } from "../test/support/eventually.ts";
import { newKeyring } from "../test/support/state-keys.ts";
import { noExtensions } from "./no-extensions.ts";
import { counting, type Requests } from "./counting-client.ts";
import { createShootStandIn } from "./shoot-stand-in.ts";
import { beQuiet } from "./quiet.ts";

/**
 * A process of Perennial, put together as `main.ts` of worker and manager do, but for what a bench has no use for:
 * `fleet-worker.ts garden|seed|manager <address> <kubeconfig>`. It answers each message with what it has asked of API servers.
 */
async function main([role = "", address = "", file = ""]: readonly string[]): Promise<void> {
  beQuiet({ shutdownSignals: [] });
  const requests: Requests = {};
  const log = createLogger({ name: `bench-${role}`, level: "error" });
  const clientOf = (cluster: string) => counting(createKubeClient({ file }, { log }), cluster, requests);
  const [gardenClient, seedClient] = [clientOf("garden"), clientOf("seed")];
  const temporal = await connectTemporal({ address, namespace: "default" });
  process.once("disconnect", () => process.exit(0));
  process.on("message", () => process.send?.(requests));
  const running = await roles[role as keyof typeof roles]({
    address,
    temporal,
    gardenClient,
    seedClient,
    requests,
    log,
  });
  process.send?.("ready");
  await Promise.all(running);
}

interface World {
  readonly address: string;
  readonly temporal: Awaited<ReturnType<typeof connectTemporal>>;
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly requests: Requests;
  readonly log: ReturnType<typeof createLogger>;
}

const seedName = "seed-1";

/** The keys of a holder of ShootStates, which all processes have to agree on. */
const keysOf = (name: "GARDEN_KEYS" | "SEED_KEYS") => parseStateKeys(process.env[name] ?? "");

/** Each starts, and returns what goes on while it runs, in an array because a promise would be waited for. */
const roles = {
  async garden({ address, temporal, gardenClient, log }: World) {
    const build = await buildWorkflows();
    const worker = await createGardenWorker({
      connection: await NativeConnection.connect({ address }),
      namespace: "default",
      build,
      activities: createGardenActivities({
        extensions: noExtensions,
        shoots: listedShoots(gardenClient),
        gardenClient,
        periods: {
          ...{ syncPeriod: 3_600_000, retryDuration: 600_000, leaseSeconds: 60 },
          ...{ dnsTtl: 120, seedDeadline: 600_000 },
        },
        operations: createOperations(temporal),
        lookup: createLeaderLookup(createZoneServers()),
        keys: async () => keysOf("GARDEN_KEYS"),
        log,
      }),
    });
    const running = worker.run();
    const builds = createBuilds(temporal);
    await eventually(async () => {
      const seen = await builds.read();
      return seen !== undefined && (await builds.makeCurrent(build.id, seen, hostname()));
    });
    return [running];
  },

  async seed({ address, temporal, gardenClient, seedClient, requests, log }: World) {
    const completer = createCompleter(temporal);
    const own = keysOf("SEED_KEYS");
    const waits = createWaits({ client: seedClient, completer, signer: createSigner(own), log });
    waits.start();
    await waits.synced();
    const keys = newKeyring({ own, garden: keysOf("GARDEN_KEYS") });
    const shoots = new Map<string, KubeClient>();
    const shootClients: ShootClients = {
      async get(namespace) {
        const client = shoots.get(namespace) ?? counting(createShootStandIn(), "shoot", requests);
        shoots.set(namespace, client);
        return client;
      },
      forget: async () => {},
      close: async () => {},
    };
    const deps = { gardenClient, seedClient, seedName, shootClients, waits, completer, keys, log };
    const worker = await createSeedWorker({
      connection: await NativeConnection.connect({ address }),
      namespace: "default",
      seedName,
      activities: createSeedActivities(deps),
    });
    createSeedStatus({ ...deps, stateKey: own[0]?.publicKey }).start();
    createMirror(deps).start();
    const snapshots = { readiness: () => ({ reached: true }) as const }; // there are no backups
    return [worker.run(), createCare({ ...deps, snapshots }).run(), createKubeconfigs(deps).run()];
  },

  async manager({ temporal, gardenClient, log }: World) {
    const controller = createShootController({ gardenClient, shoots: createShootClient(temporal), log });
    controller.start();
    await controller.synced();
    return [];
  },
};

await main(process.argv.slice(2));
