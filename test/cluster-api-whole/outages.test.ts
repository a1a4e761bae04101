import { testOutages } from "../support/outage-tests.ts";

testOutages(60_000);
