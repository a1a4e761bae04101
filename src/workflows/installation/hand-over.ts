import { awaitInSeed, defineInstallationFlow, inGarden, inSeed, seedExists } from "./actions.ts";

/**
 * Takes away what a chart has made, where the registration leaves the controller to an operator from now on. It does not
 * ask whether objects need a controller: the operator's serves them. The finalizer goes last, so an operator that waits
 * for that acts beside nothing of ours.
 */
// prettier-ignore
export const handOver = defineInstallationFlow("Hand extension over", {
  replaced: { do: inSeed("announceReplaced"),     when: [seedExists] },
  chart:    { do: inSeed("removeChart"),          after: ["replaced"], when: [seedExists] },
  removed:  { do: awaitInSeed("confirmRemoved"),  after: ["chart"],    when: [seedExists] },
  withdraw: { do: inSeed("withdrawStatus"),       after: ["removed"],  when: [seedExists] },
  release:  { do: inGarden("releaseInstallation"),after: ["withdraw"] },
});
