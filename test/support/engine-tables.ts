import { call, defineShootFlow, type ShootFlow } from "../../src/workflows/actions.ts";

/** Tables that each engine runs in one way. What their rows say counts less than what they come after. */
export type EngineTable = "waves" | "wait";

const write = call("deploySecrets");
const never = { text: "it is asked for", holds: () => false };

/** `waves`: one row, two beside each other, one that is skipped, one after all. `wait`: a row that waits for what others tell, and one after it. */
export const engineTables: Readonly<Record<EngineTable, ShootFlow>> = {
  waves: defineShootFlow("Waves", {
    first: { do: write },
    left: { do: write, after: ["first"] },
    right: { do: write, after: ["first"] },
    skipped: { do: write, after: ["first"], when: [never] },
    last: { do: write, after: ["left", "right", "skipped"] },
  }),
  wait: defineShootFlow("Wait", {
    waiting: { do: call("stopWorkloads") },
    next: { do: write, after: ["waiting"] },
  }),
};
