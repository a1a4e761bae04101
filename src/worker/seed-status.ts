import type { Condition, Seed } from "../api/index.ts";
import { now, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** What telling the garden about a seed needs; `period` is ms. */
export interface SeedStatusDeps {
  readonly garden: KubeClient;
  readonly seed: KubeClient;
  readonly seedName: string;
  readonly log: Logger;
  readonly period?: number;
}

/** Tells the garden that this seed is served: upstream's condition GardenletReady, its version, what spec was seen. */
export function createSeedStatus({ garden, seed, seedName, log, period = 30_000 }: SeedStatusDeps) {
  const ref = { apiVersion: "core.gardener.cloud/v1beta1", kind: "Seed", name: seedName };

  /** Says whether there is a Seed to tell of. */
  const write = async (): Promise<boolean> => {
    const object = await garden.read<Seed>(ref);
    if (object === undefined) return false;
    const { gitVersion } = (await seed.get("/version")) as { gitVersion?: string };
    const others = (object.status?.conditions ?? []).filter(({ type }) => type !== "GardenletReady");
    const before = object.status?.conditions?.find(({ type }) => type === "GardenletReady");
    const status = {
      observedGeneration: object.metadata.generation,
      kubernetesVersion: gitVersion,
      conditions: [...others, ready(before)],
    };
    await garden.patch(ref, { status }, { subresource: "status" });
    return true;
  };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const tell = async () => {
    const told = await write().catch((error: unknown) => {
      log.warn({ err: error }, "cannot tell the garden about the seed");
      return false;
    });
    if (!stopped) timer = setTimeout(() => void tell(), told ? period : Math.min(period, UNTOLD_PERIOD));
  };

  return {
    start: () => void tell(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** In ms: a Seed may be registered after its worker has started, and Shoots wait for it. */
const UNTOLD_PERIOD = 2_000;

/** Its update time is the seed's heartbeat. */
function ready(before: Condition | undefined): Condition {
  const time = now();
  return {
    type: "GardenletReady",
    status: "True",
    reason: "GardenletReady",
    message: "The seed's worker is posting ready status.",
    lastTransitionTime: before?.status === "True" ? before.lastTransitionTime : time,
    lastUpdateTime: time,
  };
}
