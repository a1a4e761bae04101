import { awaitInSeed, defineInstallationFlow, inGarden, inSeed, seedExists } from "./actions.ts";

/**
 * Takes a controller away from a seed, once no object there needs it any more: without it, such an object could not be
 * deleted. Of a Seed that is not in the garden any more nothing can be taken away, and nothing has to be.
 */
// prettier-ignore
export const uninstall = defineInstallationFlow("Uninstall extension", {
  unneeded: { do: awaitInSeed("confirmUnneeded"), when: [seedExists] },
  chart:    { do: inSeed("removeChart"),          after: ["unneeded"], when: [seedExists] },
  removed:  { do: awaitInSeed("confirmRemoved"),  after: ["chart"],    when: [seedExists] },
  release:  { do: inGarden("releaseInstallation"),after: ["removed"] },
});
