import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readComposeFile } from "../../../scripts/rehearsal/compose-file.ts";
import { parseConfig } from "../../../src/config.ts";
import { variables, type Process, type Variable } from "../../../src/variables.ts";

const root = join(import.meta.dirname, "../../..");
const file = join(root, "docker-compose.yml");
const { services } = readComposeFile(readFileSync(file, "utf8"), {
  PERENNIAL_KUBECONFIGS: "/var/kubeconfigs",
  PERENNIAL_CERTIFICATES: "/var/certificates",
});
const ours = Object.entries(services).filter(([, { image }]) => image.startsWith("perennial.dev/"));

test("every image is pinned, and none is the deprecated auto-setup", () => {
  for (const { image } of Object.values(services)) {
    expect(image).toMatch(/:\d+\.\d+(\.\d+)?(-\w+)?$/);
    expect(image).not.toContain("auto-setup");
  }
});

test("Temporal's server and the tools that make its schema are of one version, with a UI that knows its pages", () => {
  const tag = (name: string) => services[name]?.image.split(":")[1] ?? "";
  expect(tag("temporal")).toBe(tag("temporal-schema"));
  expect(tag("temporal")).toBe(tag("temporal-namespace"));
  expect(tag("temporal").localeCompare("1.31", "en", { numeric: true })).toBeGreaterThan(0);
  expect(tag("temporal-ui").localeCompare("2.49", "en", { numeric: true })).toBeGreaterThan(0);
});

test("what is mounted from the repository exists, and so do the scripts that are run from it", () => {
  const mounts = Object.values(services).flatMap(({ volumes = [] }) =>
    volumes.filter((volume) => volume.startsWith("./")),
  );
  for (const mount of mounts) expect(existsSync(join(root, mount.split(":")[0] ?? "")), mount).toBe(true);
  const inside = Object.values(services).flatMap(({ entrypoint = [], environment = {} }) =>
    [...entrypoint, ...Object.values(environment)].filter((word) => word.startsWith("/deploy/")),
  );
  expect(inside).toHaveLength(3);
  for (const path of inside)
    expect(existsSync(join(root, path.replace("/deploy/", "deploy/temporal/"))), path).toBe(true);
});

test("our processes start from entry points that the sources have, with every variable that they require and none that they do not read", () => {
  expect(ours.map(([name]) => name)).toEqual(["gateway", "manager", "worker-garden", "worker-seed", "fence"]);
  for (const [name, { command = [], environment = {} }] of ours) {
    const source = command[0]?.replace(/^dist\/(.*)\.js$/, "src/$1.ts") ?? "";
    expect(existsSync(join(root, source)), source).toBe(true);
    const process = processOf[name] ?? "manager";
    expect(parseConfig(environment, process).healthPort).toBeGreaterThan(0);
    for (const variable of Object.keys(environment)) expect(readers[variable]?.readBy, variable).toContain(process);
  }
});

test("the header names manifests that exist: policies, namespaces and priority classes among them", () => {
  const [header = ""] = readFileSync(file, "utf8").split(/^[^#]/m);
  const named = header.match(/deploy\/[\w/-]+(\.yaml|\.sh)?/g) ?? [];
  expect(named).toEqual(
    expect.arrayContaining([
      ...["deploy/crds", "deploy/garden/fencing.yaml", "deploy/seed/fencing.yaml", "deploy/seed/priority-classes.yaml"],
      ...["deploy/garden/namespace.yaml", "deploy/process/namespace.yaml"],
    ]),
  );
  for (const path of named) expect(existsSync(join(root, path)), path).toBe(true);
});

test("our processes share the host's network without sharing a port", () => {
  const ports = ours.map(([, { environment }]) => environment?.["PERENNIAL_HEALTH_PORT"]);
  expect(new Set(ports).size).toBe(ours.length);
});

test("our processes wait for the namespace, which waits for the server, which waits for its schema", () => {
  for (const [name, service] of ours)
    expect(service.depends_on).toEqual(name === "fence" ? {} : completed("temporal-namespace"));
  expect(services["temporal-namespace"]?.depends_on).toEqual({ temporal: { condition: "service_healthy" } });
  expect(services["temporal"]?.depends_on).toEqual(completed("temporal-schema"));
});

test("docker compose takes the file, where there is docker compose", async () => {
  const run = promisify(execFile);
  const installed = await run("docker", ["compose", "version"]).then(
    () => true,
    () => false,
  );
  if (installed) await run("docker", ["compose", "--file", file, "config", "--quiet"]);
});

function completed(name: string) {
  return { [name]: { condition: "service_completed_successfully" } };
}

const readers: Readonly<Record<string, Variable>> = variables;

const processOf: Readonly<Record<string, Process>> = {
  gateway: "Temporal gateway",
  manager: "manager",
  "worker-garden": "garden worker",
  "worker-seed": "seed worker",
  fence: "fence",
};
