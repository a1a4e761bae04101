/**
 * `npm run fuzz -- TARGET [--seed N] [--count N]`: mutated inputs against the code that reads what others wrote. The seed
 * is printed; the same seed and count make the same inputs.
 */
import { parseArgs } from "node:util";
import { fuzzAdmission } from "./admission.ts";
import { fuzzConfigurations } from "./configuration.ts";
import { fuzzDnsAnswers } from "./dns.ts";
import { fuzzKubeconfigs } from "./kubeconfig.ts";
import { describeTally, type Tally } from "./report.ts";
import { fuzzUserData } from "./user-data.ts";

const targets: Readonly<Record<string, (o: { seed: number; count: number }) => Promise<Tally[]>>> = {
  admission: fuzzAdmission,
  configuration: fuzzConfigurations,
  dns: fuzzDnsAnswers,
  kubeconfig: fuzzKubeconfigs,
  "user-data": fuzzUserData,
};

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) },
      count: { type: "string", default: "10000" },
    },
  });
  const [name = ""] = positionals;
  const fuzz = targets[name];
  if (fuzz === undefined) {
    console.error(`there is no target ${JSON.stringify(name)}: choose one of ${Object.keys(targets).join(", ")}`);
    return 2;
  }
  const [seed, count] = [Number(values.seed), Number(values.count)];
  console.log(`seed ${seed}, ${count} cases of each kind`);
  const tallies = await fuzz({ seed, count });
  for (const tally of tallies) console.log(describeTally(tally));
  const findings = tallies.flatMap((tally) => tally.findings.map((finding) => ({ ...finding, what: tally.what })));
  for (const { what, case: number, outcome, input } of findings.slice(0, 10))
    console.log(`\n${what}, case ${number}: ${outcome}\n  ${input.slice(0, 2000)}`);
  return findings.length > 0 ? 1 : 0;
}
