import { fuzzDns } from "../support/dns-fuzz.ts";
import type { Finding, Tally } from "./report.ts";

/** Signed answers about the leader that are changed on their way: each is refused, or names the true leader. */
export async function fuzzDnsAnswers({ seed, count }: { seed: number; count: number }): Promise<Tally[]> {
  const { answers, refused, taken, times, failure } = await fuzzDns(count, seed | 0);
  const findings: Finding[] = failure === undefined ? [] : [{ case: answers, ...failure }];
  return [{ what: "DNS answers", count: answers, outcomes: { refused, taken }, times, findings }];
}
