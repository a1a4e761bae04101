import { afterAll, beforeAll, describe, test } from "vitest";
import { upstreamZone } from "../../src/local/process/dns.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";
import { upstreamSubjects } from "../support/upstream-subjects.ts";
import { startUpstreamSeed, type UpstreamSeed } from "../support/upstream-trial.ts";
import { expectVerdicts } from "../support/upstream-verdicts.ts";
import { seconds } from "../support/patience.ts";

/**
 * Controllers of upstream's, judged as `perennial extension verify` judges anybody's, that need more than the seed: a build
 * of their own, or a name server at the only port that they know, which takes root.
 */
const address = "127.0.0.1";
let seed: UpstreamSeed;
let dns: TestNameServer;

beforeAll(async () => {
  dns = await startNameServer(upstreamZone, { at: { address, port: 53 }, openTo: address });
  seed = await startUpstreamSeed();
}, seconds(120));

afterAll(async () => {
  await seed.stop();
  await dns.stop();
});

describe.concurrent("upstream's controller", () => {
  const subjects = upstreamSubjects.filter(({ needs }) => needs !== undefined && needs !== "a Shoot");
  test.for(subjects)(
    "of $kind $type keeps and breaks what is known of it",
    { timeout: seconds(600) },
    async (subject) => expectVerdicts(await seed.judge(subject, { name: `ns.${upstreamZone}`, address }), subject),
  );
});
