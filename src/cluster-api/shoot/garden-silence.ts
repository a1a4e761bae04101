import type { ShootControlPlane } from "../../api/cluster-api/index.ts";
import { KubeError, now, type KubeClient } from "../../kube/index.ts";
import type { Obstacle } from "../objects/obstacle.ts";
import { say } from "../objects/say.ts";

/** Since when a garden that is another cluster does not answer. */
export interface GardenSilence {
  /** RFC 3339; undefined while the garden answers. */
  since(): string | undefined;
  start(): void;
  stop(): void;
}

/** What is looked at, and whom a change is told. */
export interface GardenSilenceDeps {
  readonly garden: KubeClient;
  /** Whether a watch of the garden has heard of it of late; the garden is asked only where that is not so. */
  isHeard(): boolean;
  onChange(): void;
  /** In ms: how often it is looked at. */
  readonly period?: number;
}

/** Notices that the garden does not answer, and that it does again, each within some seconds. */
export function watchGarden({ garden, isHeard, onChange, period = 5_000 }: GardenSilenceDeps): GardenSilence {
  let since: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let asking = false;

  async function look(): Promise<void> {
    if (asking) return;
    asking = true;
    const answers = isHeard() || (await hasAnswered(garden));
    asking = false;
    if (answers === (since === undefined)) return;
    since = answers ? undefined : now();
    onChange();
  }

  return {
    since: () => since,
    start: () => void (timer ??= setInterval(() => void look(), period)),
    stop: () => clearInterval(timer),
  };
}

/** Says of a control plane that nothing can be done for it now. All else that is said stays: its API server may be as it was. */
export async function sayUnreachable(
  management: KubeClient,
  controlPlane: ShootControlPlane,
  since: string,
): Promise<void> {
  await say(management, controlPlane, [{ type: "ShootSynced", status: "Unknown", ...gardenUnreachable(since) }]);
}

/** That a garden does not answer; since when is RFC 3339. */
export const gardenUnreachable = (since: string): Obstacle => ({
  reason: "GardenUnreachable",
  message: `the garden has not answered since ${since}`,
});

/** A refusal is an answer, too. */
async function hasAnswered(garden: KubeClient): Promise<boolean> {
  try {
    await garden.get("/version");
    return true;
  } catch (error) {
    return error instanceof KubeError && error.status >= 400 && error.status < 500;
  }
}
