import { expect } from "vitest";
import { killTest as test, runKilled } from "../support/kill-lab.ts";
import { killScenarios } from "../support/kill-scenarios.ts";

const matrix = killScenarios.flatMap((scenario, index) =>
  (["before", "after"] as const).map((moment) => ({
    scenario,
    moment,
    title: scenario.title,
    short: `k${index}${moment[0]}`,
  })),
);

/** With every fourth one the core manager dies, too. */
test.for(matrix)(
  "while $title, SIGKILL $moment any write leads to the same end, and never to a second Shoot",
  { timeout: 1_800_000 },
  async ({ scenario, moment, short }, { lab }) => {
    const deaths: string[] = [];
    for (let write = 1; ; write++) {
      const at = await runKilled(lab, scenario, `${short}-${write}`, { write, moment, withManager: write % 4 === 0 });
      if (at === undefined) break;
      deaths.push(at);
    }
    console.log(`SIGKILL ${moment} ${deaths.length} writes while ${scenario.title}`);
    expect(deaths.length, deaths.join("\n")).toBeGreaterThan(4);
  },
);
