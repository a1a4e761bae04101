/**
 * `npm test`: the projects unit, property, tools, kube, flow, cluster-api, self-hosted and e2e, each in a vitest of its own, and their sum in the
 * last line. `self-hosted` takes a sample of `self-hosted-whole` (`npm run test:self-hosted`). Project `cluster-api` needs Cluster API's core manager; it is a sample of `cluster-api-whole` (`npm run test:cluster-api`).
 * Projects `upstream-api` and `upstream` (`npm run test:upstream`) run when they are named: programs of others, which take up to two
 * hours to build. The first needs the resource manager and provider-local only, and is part of what CI runs.
 *
 * `--no-e2e` leaves out what needs root; the names of projects choose among them; the rest goes to vitest as it is.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBinaries } from "../src/local/binary/binaries.ts";
import { packages, type PackageName } from "../src/local/binary/debian-packages.ts";
import { ensurePackages } from "../src/local/binary/packages.ts";
import { upstreamBinaries } from "../src/local/environment/upstream.ts";
import { clusterApiBinaries, clusterBinaries, tunnelBinaries, type BinaryName } from "../src/local/binary/versions.ts";
import { createLogger } from "../src/log.ts";
import { countTests, explain, formatSum, type Counts } from "./test-report.ts";

const usual = ["unit", "property", "tools", "kube", "flow", "cluster-api", "self-hosted", "e2e"] as const;
const projects = [...usual, "upstream-api", "cluster-api-whole", "self-hosted-whole", "upstream"] as const;
type Project = (typeof projects)[number];

/** Projects that make machines out of namespaces of this host. */
const takesRoot: readonly Project[] = ["self-hosted", "self-hosted-whole", "e2e"];

/** What a project takes from the cache of binaries; e2e gets the rest by itself. */
const needs: Readonly<Record<Project, readonly BinaryName[]>> = {
  unit: [],
  property: [],
  tools: [],
  kube: [
    "etcd",
    "etcdctl",
    "etcdutl",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "helm",
    "rclone",
    ...tunnelBinaries,
  ],
  flow: ["temporal"],
  "self-hosted": [...clusterBinaries, "etcdctl", "etcdutl"],
  "self-hosted-whole": [...clusterBinaries, "etcdctl", "etcdutl"],
  e2e: [...clusterBinaries, "temporal"],
  "upstream-api": [
    "etcd",
    "etcdctl",
    "kube-apiserver",
    "kube-controller-manager",
    "gardener-resource-manager",
    "gardener-extension-provider-local",
  ],
  "cluster-api": ["etcd", "etcdctl", "kube-apiserver", ...clusterApiBinaries],
  "cluster-api-whole": [...clusterBinaries, "etcdctl", "temporal", ...clusterApiBinaries],
  upstream: [
    ...clusterBinaries,
    ...upstreamBinaries,
    "gardener-node-agent",
    "gardener-extension-networking-calico",
    "gardener-extension-admission-calico",
    "machine-controller-manager",
    "machine-controller-manager-provider-local",
    "helm",
    "registry",
  ],
};

/** The Debian packages that a project takes; e2e gets its own by itself. */
const takes: Partial<Readonly<Record<Project, readonly PackageName[]>>> = {
  kube: ["bind9", "bind9-dnsutils"],
  "cluster-api-whole": ["bind9", "bind9-dnsutils"],
  upstream: Object.keys(packages) as PackageName[],
};

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const { chosen, rest } = parse(argv);
  const asking = chosen.filter((project) => takesRoot.includes(project));
  const obstacle = asking.length > 0 ? obstacleTo(process) : undefined;
  const runnable = obstacle === undefined ? chosen : chosen.filter((project) => !asking.includes(project));
  const counts: [string, Counts][] = [];
  for (const project of runnable) counts.push([project, await runProject(project, rest)]);
  if (obstacle !== undefined)
    for (const project of asking) counts.push([project, { passed: 0, failed: 1, note: obstacle }]);

  console.log();
  for (const [project, count] of counts) console.log(explain(project, count));
  console.log(formatSum(counts.map(([, count]) => count)));
  return counts.some(([, { failed }]) => failed > 0) ? 1 : 0;
}

function parse(argv: readonly string[]): { chosen: readonly Project[]; rest: readonly string[] } {
  const named = projects.filter((project) => argv.includes(project));
  const chosen = (named.length > 0 ? named : usual).filter(
    (project) => !takesRoot.includes(project) || !argv.includes("--no-e2e"),
  );
  const rest = argv.filter((word) => word !== "--no-e2e" && !named.includes(word as Project));
  return { chosen, rest };
}

function obstacleTo({ platform, getuid }: NodeJS.Process): string | undefined {
  const way = "run the tests as root on Linux, or leave these out with `npm test -- --no-e2e`";
  if (platform !== "linux") return `these tests make machines out of Linux namespaces: ${way}`;
  if (getuid?.() !== 0) return `these tests make machines out of namespaces, which takes root: ${way}`;
  return undefined;
}

async function runProject(project: Project, rest: readonly string[]): Promise<Counts> {
  console.log(`\n── ${project} ──`);
  try {
    const log = createLogger({ name: "test", level: "warn" });
    await ensureBinaries(needs[project], { log, pinned: true, onProgress: console.log });
    await ensurePackages({ names: takes[project] ?? [], onProgress: console.log });
  } catch (error) {
    return { passed: 0, failed: 1, note: error instanceof Error ? error.message : String(error) };
  }
  return await runVitest(project, rest);
}

/** Counts by vitest's own report: what was printed is for people. */
async function runVitest(project: Project, rest: readonly string[]): Promise<Counts> {
  const directory = await mkdtemp(join(tmpdir(), "perennial-test-report-"));
  try {
    const report = join(directory, "report.json");
    const vitest = join(import.meta.dirname, "../node_modules/vitest/vitest.mjs");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const exit = await run(process.execPath, [vitest, "run", "--project", project, ...reporters, ...rest]);
    return countTests(await readFile(report, "utf8").catch(() => undefined), exit);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A signal to us goes on to the tests, so that they clean up; we wait for them. */
async function run(command: string, args: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on("SIGINT", pass).on("SIGTERM", pass);
  try {
    return await new Promise((resolve, reject) => {
      child.once("error", reject).once("close", (code) => resolve(code ?? 1));
    });
  } finally {
    process.off("SIGINT", pass).off("SIGTERM", pass);
  }
}
