import { testOutages } from "../support/outage-tests.ts";

/** A sample: test/cluster-api-whole has the whole minute. */
testOutages(5_000);
