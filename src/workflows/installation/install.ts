import { awaitInSeed, defineInstallationFlow, hasGardenAccess, inGarden, inSeed } from "./actions.ts";

/** Installs a registered controller in a seed, or brings it to what chart, values and Seed are now. Every step is safe to repeat. */
// prettier-ignore
export const install = defineInstallationFlow("Install extension", {
  hold:            { do: inGarden("holdInstallation") },
  namespace:       { do: inSeed("prepareExtensionNamespace"), after: ["hold"] },
  resourceManager: { do: inSeed("deployResourceManager"),     after: ["namespace"] },
  gardenAccess:    { do: inSeed("deployGardenAccess"),        after: ["namespace"], when: [hasGardenAccess] },
  chart:           { do: inSeed("applyChart"),                after: ["gardenAccess", "namespace", "resourceManager"] },
  installed:       { do: awaitInSeed("confirmInstalled"),     after: ["chart"] },
});
