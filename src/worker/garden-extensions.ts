import type { InstalledExtensions } from "../activities/shoot/required-extensions.ts";
import { ControllerInstallation, ControllerRegistration } from "../api/index.ts";
import { asItServes } from "../api/registration/wanted.ts";
import { registeredOf, type Registered } from "../api/registration/registered.ts";
import { createReflector, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import type { Followed } from "./first-lists.ts";

/** The extensions that are registered in a garden and installed on its Seeds, from two watches; charts are not remembered. */
export interface GardenExtensions extends InstalledExtensions, Followed {
  start(): void;
  stop(): Promise<void>;
}

/** Follows a garden's registrations and installations. */
export function createGardenExtensions(gardenClient: KubeClient, log: Logger): GardenExtensions {
  const registered = new Map<string, Registered>();
  const bySeed = new Map<string, Map<string, ControllerInstallation>>();

  const registrations = createReflector(gardenClient, ControllerRegistration, {
    log,
    keep: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata, spec: {} }),
    listensToWhole: true, // what their administrators register
    onEvent({ type, object }) {
      const { name } = object.metadata;
      if (type === "deleted") registered.delete(name);
      else registered.set(name, registeredOf(object));
    },
  });
  const installations = createReflector(gardenClient, ControllerInstallation, {
    log,
    onEvent({ type, object }) {
      const seed = object.spec.seedRef?.name ?? "";
      const known = bySeed.get(seed) ?? new Map<string, ControllerInstallation>();
      if (type === "deleted") known.delete(object.metadata.name);
      else known.set(object.metadata.name, object);
      bySeed.set(seed, known);
    },
  });
  const parts = [registrations, installations];

  const serving = () => [...registered.values()].map(asItServes);
  return {
    registered: serving,
    of: (seedName) => ({
      registrations: serving(),
      installations: [...(bySeed.get(seedName)?.values() ?? [])],
    }),
    failure: () => registrations.failure() ?? installations.failure(),
    start: () => parts.forEach((part) => part.start()),
    synced: async () => void (await Promise.all(parts.map((part) => part.synced()))),
    stop: async () => void (await Promise.all(parts.map((part) => part.stop()))),
  };
}
