/**
 * `npm run mutation -- docs [--only TEXT]`: contradictions planted for the promises of pages, which the tests that the pages name have to
 * fail with. `npm run mutation [-- OPTIONS OF STRYKER]`: a change of each expression of some folders, which unit tests have to see.
 */
import { spawnSync } from "node:child_process";
import { projectFolder } from "../support/pages.ts";
import { runDocs } from "./docs.ts";

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args;
  return first === "docs" ? await runDocs(rest) : runStryker(args);
}

function runStryker(args: readonly string[]): number {
  const words = ["run", "--silent", "mutation:expressions", "--", ...args];
  return spawnSync("npm", words, { cwd: projectFolder, stdio: "inherit" }).status ?? 1;
}
