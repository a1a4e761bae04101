import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect } from "vitest";
import { parseAllDocuments } from "yaml";
import { ControllerRegistration, type KubeObject } from "../../src/api/index.ts";
import { init } from "../../src/cli/extension/init.ts";
import { verifyExtension } from "../../src/conformance/verify.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { fakeTerminal } from "../unit/cli/fake-terminal.ts";
import { seconds } from "../support/patience.ts";

const repository = join(import.meta.dirname, "../..");
let plane: ControlPlane;
let directory: string;
let project: string;
let extension: ChildProcess | undefined;

/** The project as its author has it after an install: this package is built, and linked with the others. */
test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  directory = await mkdtemp(join(tmpdir(), "extension-init-"));
  project = join(directory, "extension-greeter");
  const context = { terminal: fakeTerminal() } as unknown as Parameters<typeof init.run>[0]["context"];
  await init.run({ args: { name: "greeter" }, options: { directory: project }, context });
  const perennial = join(directory, "perennial");
  await mkdir(join(project, "node_modules/@types"), { recursive: true });
  await mkdir(perennial);
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  await execa("node", [compiler, "-p", join(repository, "tsconfig.build.json"), "--outDir", join(perennial, "dist")]);
  await symlink(join(repository, "package.json"), join(perennial, "package.json"));
  await symlink(join(repository, "node_modules"), join(perennial, "node_modules"));
  await symlink(perennial, join(project, "node_modules/perennial"));
  for (const name of ["typescript", "@types/node", ".bin"])
    await symlink(join(repository, "node_modules", name), join(project, "node_modules", name));
}, seconds(300));
afterAll(async () => {
  extension?.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

describe("a new extension's project", () => {
  test("builds, and its own tests pass", { timeout: seconds(180) }, async () => {
    await inProject("typecheck");
    await inProject("build");
    expect(await readFile(join(project, "dist/main.js"), "utf8")).toContain("./actuator.js");
    expect((await inProject("test")).stdout).toMatch(/pass 2\n.*fail 0/);
  });

  test("installs packages of folders as copies, so that its image has this package, too, and not as a link", async () => {
    const { stdout } = await execa("npm", ["config", "get", "install-links"], { cwd: project });
    expect(stdout).toBe("true");
    expect(await readFile(join(project, ".dockerignore"), "utf8")).not.toContain("perennial");
  });

  test("gives a garden its chart and its registration", async () => {
    await inProject("registration");
    const documents = parseAllDocuments(await readFile(join(project, "dist/registration.yaml"), "utf8"));
    for (const document of documents) await plane.client.apply(document.toJS() as KubeObject);
    const key = { name: "extension-greeter" };
    const registration = await plane.client.read(ControllerRegistration, key);
    expect(registration?.spec).toMatchObject({
      deployment: { deploymentRefs: [key] },
      resources: [{ kind: "Extension", type: "greeter" }],
    });
    const { helm } = documents[0]?.toJS() as { helm: { rawChart: string } };
    const chart = await execa("tar", ["-tz"], { input: Buffer.from(helm.rawChart, "base64") });
    expect(chart.stdout.split("\n")).toEqual(
      expect.arrayContaining(["extension-greeter/Chart.yaml", "extension-greeter/templates/deployment.yaml"]),
    );
  });

  test("keeps the contract, also when it is killed", { timeout: seconds(300) }, async () => {
    await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "extension-greeter" } });
    await start();
    const report = await verifyExtension({
      client: plane.client,
      subject: { kind: "Extension", type: "greeter", failingConfig: { greeting: "" }, restart: start },
      pace: { timeout: 60_000, settle: 1_000 }, // a killed leader's Lease runs out after 15 s,
      log: createLogger({ name: "test", level: "silent" }),
      signal: new AbortController().signal,
    });
    expect(report.clauses.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(report.clauses.filter(({ verdict }) => verdict === "not judged").map(({ evidence }) => evidence)).toEqual([
      "the controller reports neither state nor providerStatus",
      ...Array.from({ length: 3 }, () => "the controller keeps no state"),
    ]);
    expect(report.left).toEqual([]);
  });
});

const inProject = (script: string) => execa("npm", ["run", script], { cwd: project });

/** Kills the process that runs, and starts another. */
async function start(): Promise<void> {
  if (extension !== undefined) {
    extension.kill("SIGKILL");
    await once(extension, "exit");
  }
  const env = { ...process.env, KUBECONFIG: plane.kubeconfigFile };
  extension = spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, "src/main.ts"], {
    cwd: project,
    env,
    stdio: "ignore",
  });
}
