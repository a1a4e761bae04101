import { afterAll, beforeAll, describe } from "vitest";
import { describeEngineContract } from "../support/engine-contract.ts";
import type { Engine } from "../support/engine.ts";
import { startInProcessEngine } from "../support/in-process-engine.ts";
import { startTemporalEngine } from "../support/temporal-engine.ts";

describe.each([
  ["Temporal's runner", startTemporalEngine],
  ["the engine in gardenadm's process", startInProcessEngine],
])("%s", (_, start) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await start();
  });
  afterAll(async () => {
    await engine.stop();
  });
  describeEngineContract(() => engine);
});
