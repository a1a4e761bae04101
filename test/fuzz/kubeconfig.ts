import { stringify } from "yaml";
import { parseKubeconfig, renderKubeconfig } from "../../src/kube/kubeconfig.ts";
import { parse } from "yaml";
import { mutate } from "./mutate.ts";
import { createChance } from "./random.ts";
import type { Finding, Tally } from "./report.ts";

/** Texts that mean something to the file or to a log: they must not come back in an error. */
const secret = "a-token-that-no-log-may-hold";

/**
 * Mutated kubeconfigs, as objects and as broken text. Each is read, or refused with an Error that does not quote the token
 * in it.
 */
export async function fuzzKubeconfigs({ seed, count }: { seed: number; count: number }): Promise<Tally[]> {
  const chance = createChance(seed);
  const example = parse(renderKubeconfig({ server: "https://127.0.0.1:1", ca: "ca", token: secret })) as object;
  const findings: Finding[] = [];
  const times: number[] = [];
  const outcomes = { read: 0, refused: 0 };
  for (let n = 0; n < count; n += 1) {
    const whole = stringify(mutate(example, chance));
    const at = chance.below(whole.length);
    const input =
      chance.below(2) === 0
        ? whole
        : whole.slice(0, at) + chance.oneOf(["", "\t", "{", "&a *a", "!!x", "\u0000"]) + whole.slice(at + 1);
    const begun = performance.now();
    try {
      const { server, user, cluster } = parseKubeconfig(input);
      const isWhole = typeof server === "string" && typeof user === "object" && typeof cluster === "object";
      if (isWhole) outcomes.read += 1;
      else findings.push({ case: n, input, outcome: "was read, but is not whole" });
    } catch (error) {
      outcomes.refused += 1;
      const said =
        error instanceof Error && !(error instanceof TypeError) ? error.message : `no proper error: ${String(error)}`;
      if (said.startsWith("no proper") || said.includes(secret)) findings.push({ case: n, input, outcome: said });
    }
    times.push(performance.now() - begun);
  }
  return [{ what: "kubeconfig", count, outcomes, times, findings }];
}
