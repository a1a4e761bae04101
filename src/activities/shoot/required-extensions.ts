import { setTimeout as sleep } from "node:timers/promises";
import { ApplicationFailure } from "../temporal.ts";
import { Seed } from "../../api/index.ts";
import { describeMissing, missingExtensions, type SeedExtensions } from "../../api/registration/gate.ts";
import type { Registered } from "../../api/registration/registered.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { readShoot } from "./patch.ts";

/** What is known of the extensions of a Seed, at no request's cost. */
export interface InstalledExtensions {
  of(seedName: string): SeedExtensions;
  /** What is registered in the garden and stays. */
  registered(): readonly Registered[];
}

/** The garden, and its extensions; times are ms. */
export interface RequiredExtensionsDeps {
  readonly gardenClient: KubeClient;
  readonly extensions: InstalledExtensions;
  /** How long a missing extension is waited for before that is said; 20 s unless told otherwise. */
  readonly timeout?: number;
}

/**
 * Waits until every controller that the Shoot needs is at its service on its Seed; throws which are not, what for and since
 * when. That is worth another try soon: what is missing is being installed.
 */
export function createRequiredExtensions({ gardenClient, extensions, timeout = 20_000 }: RequiredExtensionsDeps) {
  return async (run: ShootRun): Promise<void> => {
    const shoot = await readShoot(gardenClient, run);
    if (shoot === undefined) return; // what comes after says so
    const seed = await gardenClient.read(Seed, { name: run.seedName });
    for (const end = performance.now() + timeout; ; await sleep(PERIOD)) {
      const missing = missingExtensions(shoot, seed, extensions.of(run.seedName));
      if (missing.length === 0) return;
      if (performance.now() < end) continue;
      const message = describeMissing(missing, run.seedName);
      throw ApplicationFailure.create({
        message,
        type: "ExtensionsNotReady",
        nonRetryable: true, // by Temporal: the flow tries again, and tells the Shoot's users meanwhile
        details: [{ message, codes: [], retryable: true, within: RETRY_WITHIN }],
      });
    }
  };
}

/** In ms. */
const PERIOD = 250;

/** In ms: the longest pause before the next look. */
const RETRY_WITHIN = 30_000;
