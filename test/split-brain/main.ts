import { mkdir, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { copyFaults, findCopyFault, searchCopies } from "../support/copies-model.ts";
import { describeSearch, faults, find, keptFile, search } from "../support/split-brain-search.ts";

/**
 * `npm run split-brain -- --schedules 10000 --seed 1 --keep`: the whole search, and each fault by itself. With `--keep`, the
 * schedules that show the faults are written down, and the property tests run them again.
 */
const { values } = parseArgs({
  options: { schedules: { type: "string", default: "10000" }, seed: { type: "string" }, keep: { type: "boolean" } },
});
const count = Number(values.schedules);
const seed = values.seed === undefined ? undefined : Number(values.seed);
const say = (line: string) => process.stdout.write(`${line}\n`);

for (const [what, fault] of Object.entries(faults)) {
  const found = await find(fault, count, seed);
  say(`split brain: ${found === undefined ? "NOT caught" : `caught after ${found.schedules} schedules`}: ${what}`);
  if (found === undefined) process.exitCode = 1;
  else if (values.keep === true) {
    await mkdir(new URL(".", keptFile(what)), { recursive: true });
    await writeFile(keptFile(what), `${JSON.stringify(found.schedule)}\n`);
  }
}
const seen = await search(count, seed);
say(describeSearch(seen));
if (seen.conflict !== undefined) {
  say(`split brain: two leaders act at once: ${seen.conflict}`);
  process.exitCode = 1;
}

for (const [what, fault] of Object.entries(copyFaults)) {
  const schedules = await findCopyFault(fault, count, seed);
  say(`copies: ${schedules === undefined ? "NOT caught" : `caught after ${schedules} schedules`}: ${what}`);
  if (schedules === undefined) process.exitCode = 1;
}
const copies = await searchCopies(Math.ceil(count / 10), seed);
say(`copies: ${copies.schedules} schedules, ${copies.acts} acts, ${copies.byCopies} with acts of a copy`);
if (copies.conflict !== undefined) {
  say(`copies: two clusters act at once: ${copies.conflict}`);
  process.exitCode = 1;
}
