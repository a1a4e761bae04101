import { createLogger } from "../../log.ts";
import { findEnvironment, type EnvironmentChoice } from "./file.ts";
import type { Environment } from "./environment.ts";
import { withLock } from "../binary/lock.ts";
import { createMachines } from "../machine/machines.ts";
import { removeBridge } from "../network/bridge.ts";
import { gatewayName } from "../process/gateway.ts";
import { isOwn } from "../process/own-processes.ts";
import { supervisorName } from "../supervisor/supervisor.ts";
import { createProcesses } from "../process/processes.ts";
import { lockFile, removeStateFolder } from "./state-folder.ts";
import { removeWebhooks } from "./webhooks.ts";

/** What is told while `down` works. */
export interface DownProgress {
  readonly step: "own processes" | "machines" | "clusters" | "network" | "files";
  /** Milliseconds since the step began. */
  readonly elapsed: number;
  readonly state: "begun" | "done";
}

/**
 * Takes an environment down and leaves nothing of it: processes, machines (those of Shoots, too), network, mounts, files.
 * Can be interrupted and run again; nothing is there is success. Clusters that existed before keep what they were given.
 */
export async function down(
  options: EnvironmentChoice & { readonly signal?: AbortSignal } = {},
  onProgress: (progress: DownProgress) => void = () => {},
): Promise<void> {
  const environment = await findEnvironment(options);
  if (environment === undefined) return;
  const step = async (name: DownProgress["step"], work: () => Promise<void>): Promise<void> => {
    options.signal?.throwIfAborted();
    const begin = performance.now();
    onProgress({ step: name, elapsed: 0, state: "begun" });
    await work();
    onProgress({ step: name, elapsed: Math.round(performance.now() - begin), state: "done" });
  };
  await withLock(lockFile(environment), async () => await takeDown(environment, step));
}

async function takeDown(
  environment: Environment,
  step: (name: DownProgress["step"], work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const log = createLogger({ name: "local", level: "silent" });
  const processes = createProcesses(environment, log);
  const stop = async (fits: (name: string) => boolean): Promise<void> => {
    const names = (await processes.list()).map(({ name }) => name).filter(fits);
    await Promise.all(names.map(async (name) => await processes.stop(name)));
  };
  const withMachines = process.platform === "linux" && process.getuid?.() === 0;
  const left = await removeWebhooks(environment).then(
    () => undefined,
    (error: unknown) => error,
  );
  await step("own processes", async () => {
    await processes.stop(supervisorName); // it would take what ends by itself for dead
    // The gateway goes with the servers: the workers take their leave through it.
    await stop((name) => isOwn(name) && name !== gatewayName);
  });
  if (withMachines) await step("machines", async () => await createMachines(environment, log).removeAll());
  await step("clusters", async () => {
    await stop((name) => !name.endsWith("-etcd"));
    await stop(() => true);
  });
  if (withMachines) await step("network", async () => await removeBridge(environment));
  await step("files", async () => await removeStateFolder(environment));
  if (left !== undefined)
    throw new Error(
      `environment ${environment.name} is gone, but the garden does not let its webhooks be taken away, and no Shoot there can be ` +
        "written before they are: kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations perennial",
      { cause: left },
    );
}
