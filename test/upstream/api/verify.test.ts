import { afterAll, beforeAll, describe, test } from "vitest";
import { upstreamSubjects } from "../../support/upstream-subjects.ts";
import { startUpstreamSeed, type UpstreamSeed } from "../../support/upstream-trial.ts";
import { expectVerdicts } from "../../support/upstream-verdicts.ts";
import { seconds } from "../../support/patience.ts";

/**
 * Upstream's provider-local as it is published, judged as `perennial extension verify` judges anybody's: the controllers that
 * need nothing but the seed. test/upstream/verify.test.ts has the others.
 */
let seed: UpstreamSeed;
beforeAll(async () => void (seed = await startUpstreamSeed()), seconds(120));
afterAll(() => seed.stop());

describe.concurrent("upstream's controller", () => {
  const subjects = upstreamSubjects.filter(({ needs }) => needs === undefined);
  test.for(subjects)("of $kind $type keeps and breaks what is known of it", async (subject) =>
    expectVerdicts(await seed.judge(subject), subject),
  );
});
