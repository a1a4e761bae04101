import { setTimeout as sleep } from "node:timers/promises";
import { examine, nextCondition, type HealthType } from "../activities/shoot/health.ts";
import { changeShootStatus } from "../activities/shoot/patch.ts";
import type { ShootClients } from "../activities/shoot/clients.ts";
import { Shoot, type Condition } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The clients of garden, seed and Shoots; `period` is ms, a minute unless told otherwise. */
export interface CareDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
  readonly shootClients: ShootClients;
  readonly log: Logger;
  readonly period?: number;
}

/** Looks at the health of each Shoot on the seed, again and again, and keeps the Shoots' conditions. */
export function createCare({ gardenClient, seedClient, seedName, shootClients, log, period = 60_000 }: CareDeps) {
  const stopping = new AbortController();

  const careFor = async (shoot: Shoot) => {
    const namespace = shoot.status?.technicalID;
    if (namespace === undefined || shoot.spec.hibernation?.enabled) return;
    const client = await shootClients.get(namespace).catch(() => undefined);
    const readinessByType = await examine(seedClient, client, namespace);
    const before = shoot.status?.conditions ?? [];
    const types = Object.keys(readinessByType) as HealthType[];
    const workerless = (shoot.spec.provider.workers ?? []).length === 0;
    const cared = types
      .filter((type) => !workerless || (type !== "EveryNodeReady" && type !== "SystemComponentsHealthy"))
      .map((type) =>
        nextCondition(
          type,
          before.find((one) => one.type === type),
          readinessByType[type],
          new Date(),
        ),
      );
    if (JSON.stringify(cared) !== JSON.stringify(before)) await write(shoot, cared);
  };

  /** What was seen here counts only while the Shoot is here. */
  const write = ({ metadata: { namespace, name, uid = "" } }: Shoot, conditions: Condition[]) =>
    changeShootStatus(gardenClient, { namespace, name, uid }, (status) =>
      status.seedName === seedName ? { conditions } : undefined,
    );

  const round = async () => {
    const shoots = await gardenClient.list(Shoot);
    const cared = shoots.filter(
      (shoot) => shoot.status?.seedName === seedName && !shoot.metadata.deletionTimestamp && isCaredFor(shoot),
    );
    for (const shoot of cared) {
      if (stopping.signal.aborted) return;
      await careFor(shoot).catch((error: unknown) =>
        log.warn({ shoot: shoot.metadata.name, err: error }, "cannot look after Shoot"),
      );
    }
  };

  return {
    async run(): Promise<void> {
      while (!stopping.signal.aborted) {
        await round().catch((error: unknown) => log.warn({ err: error }, "cannot look after Shoots"));
        await pause(period, stopping.signal);
      }
    },
    stop: () => stopping.abort(),
  };
}

/**
 * Whether the Shoot's conditions are to say how it is: a control plane that is still being built, or on the move, is not
 * sick. One whose move is stuck may be away, and its users are told.
 */
export function isCaredFor({ status }: Pick<Shoot, "status">): boolean {
  const { type, state = "Pending" } = status?.lastOperation ?? {};
  if (type === "Migrate" || type === "Restore") return ["Succeeded", "Error", "Failed"].includes(state);
  return type === "Reconcile" || (type === "Create" && state === "Succeeded");
}

/** Waits, or less when stopped. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
