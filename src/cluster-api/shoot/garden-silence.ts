import { KubeError, now, type KubeClient } from "../../kube/index.ts";

/** Since when a garden that is another cluster does not answer. */
export interface GardenSilence {
  /** RFC 3339; undefined while the garden answers. */
  since(): string | undefined;
  /** Finds out whether it answers now. */
  look(): Promise<void>;
}

/** What is looked at. */
export interface GardenSilenceDeps {
  readonly garden: KubeClient;
  /** Whether a watch of the garden has heard of it of late; the garden is asked only where that is not so. */
  isHeard(): boolean;
  /** Whether a list was asked for last without an answer; one that is tried again soon would say so a moment later. */
  isCutOff(): boolean;
}

/** Notices that the garden does not answer, and that it does again, whenever it is looked at. */
export function createGardenSilence({ garden, isHeard, isCutOff }: GardenSilenceDeps): GardenSilence {
  let since: string | undefined;
  return {
    since: () => since,
    async look() {
      const answers = isHeard() || ((await hasAnswered(garden)) && !isCutOff());
      since = answers ? undefined : (since ?? now());
    },
  };
}

/** A refusal is an answer, too. */
async function hasAnswered(garden: KubeClient): Promise<boolean> {
  try {
    await garden.get("/version");
    return true;
  } catch (error) {
    return error instanceof KubeError && error.status >= 400 && error.status < 500;
  }
}
