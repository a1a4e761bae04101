import { afterAll, beforeAll, describe, test } from "vitest";
import { upstreamSubjects } from "../support/upstream-subjects.ts";
import { startUpstreamSeed, type UpstreamSeed } from "../support/upstream-trial.ts";
import { expectVerdicts } from "../support/upstream-verdicts.ts";
import { seconds } from "../support/patience.ts";

/**
 * Controllers of upstream's provider-local that wait for what others do beside a Shoot: its resource manager and its
 * machine-controller-manager, which are upstream's, too. Judged as `perennial extension verify` judges anybody's.
 */
let seed: UpstreamSeed;
beforeAll(async () => void (seed = await startUpstreamSeed({ shoot: true })), seconds(120));
afterAll(() => seed.stop());

describe("upstream's controller", () => {
  const subjects = upstreamSubjects.filter(({ needs }) => needs === "a Shoot");
  test.for(subjects)(
    "of $kind $type keeps and breaks what is known of it",
    { timeout: seconds(600) },
    async (subject) => expectVerdicts(await seed.judge(subject), subject),
  );
});
