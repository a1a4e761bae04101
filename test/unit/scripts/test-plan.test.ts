import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { planTests } from "../../../scripts/test/arguments.ts";
import { conformanceBinaries, clusterBinaries } from "../../../src/local/binary/versions.ts";
import { laterNeeds, needs, orderBuilds, usual } from "../../../scripts/test/projects.ts";
import { testsReachedBy } from "../../../scripts/test/reach.ts";

describe("the plan of a test run", () => {
  test("is all but what builds for an hour, and says what that leaves out", () => {
    const { left, ...plan } = planTests([]);
    expect(plan).toEqual({ chosen: usual, parallel: false, rest: [] });
    expect(left).toEqual(["not run: cluster-api-whole, self-hosted-whole, upstream: they run when they are named"]);
  });

  test("leaves out what takes root when it is told to, and says so", () => {
    const { chosen, left } = planTests(["--no-e2e"]);
    expect(chosen).toEqual(usual.filter((project) => !["self-hosted", "e2e", "kill-matrix"].includes(project)));
    expect(left[0]).toBe("not run: self-hosted, e2e, kill-matrix: --no-e2e leaves them out");
  });

  test("is what is named, and the rest goes to vitest", () => {
    const words = ["kube", "--changed=main", "--parallel", "test/kube/lease.test.ts", "-t", "is held"];
    const { left: _, ...plan } = planTests(words);
    expect(plan).toEqual({
      chosen: ["kube"],
      since: "main",
      parallel: true,
      rest: ["test/kube/lease.test.ts", "-t", "is held"],
    });
  });
});

test("binaries are built in the order in which the two lanes need them", () => {
  const order = orderBuilds(usual);
  const lastOf = (names: readonly string[]) => Math.max(...names.map((name) => order.indexOf(name as never)));
  expect(order).toHaveLength(new Set(order).size);
  expect([...order].sort()).toEqual(
    [...new Set(usual.flatMap((project) => [...needs[project], ...(laterNeeds[project] ?? [])]))].sort(),
  );
  expect(lastOf(clusterBinaries)).toBe(clusterBinaries.length - 1);
  expect(lastOf(needs.kube)).toBeLessThan(order.indexOf("cluster-api-manager"));
  expect(order.slice(-conformanceBinaries.length)).toEqual(conformanceBinaries);
});

test("a change is seen by the tests that import it, start it or read it, however far away", async () => {
  const root = await mkdtemp(join(tmpdir(), "perennial-reach-"));
  const files: Record<string, string> = {
    "src/a.ts": "export const a = 1;",
    "src/b.ts": 'import { a } from "./a.ts"; export { a };',
    "src/main.ts": 'import "./b.ts";',
    "deploy/garden/policy.yaml": "",
    "docs/api.md": "",
    "test/imports.test.ts": 'import { a } from "../src/b.ts";',
    "test/starts.test.ts": "const main = `src/main.ts`;",
    "test/reads.test.ts": 'const folder = "deploy/garden";',
    "test/docs.test.ts": 'const folder = join(root, "docs");',
    "test/alone.test.ts": "",
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const tests = Object.keys(files).filter((path) => path.startsWith("test/"));
  const seen = (...changed: string[]) => testsReachedBy(changed, { root, tests });
  expect(seen("src/a.ts")).toEqual(["test/imports.test.ts", "test/starts.test.ts"]);
  expect(seen("deploy/garden/policy.yaml")).toEqual(["test/reads.test.ts"]);
  expect(seen("docs/api.md")).toEqual(["test/docs.test.ts"]);
  expect(seen("test/alone.test.ts")).toEqual(["test/alone.test.ts"]);
  expect(seen("package.json")).toEqual(tests);
  expect(seen("src/other.ts")).toEqual([]);
  await rm(root, { recursive: true });
});
