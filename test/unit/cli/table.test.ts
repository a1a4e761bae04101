import { expect, it } from "vitest";
import { describeShoot, renderDescription } from "../../../src/cli/report/description.ts";
import { shootColumns } from "../../../src/cli/report/columns.ts";
import { flowColumns } from "../../../src/cli/flow/list.ts";
import { renderStatus } from "../../../src/cli/local/summary.ts";
import { printList } from "../../../src/cli/display/output.ts";
import { renderTable, type Column } from "../../../src/cli/display/table.ts";
import type { EnvironmentStatus } from "../../../src/local/environment/status.ts";
import { movableShoot } from "../../support/migration-objects.ts";
import { fakeOutput } from "./fake-terminal.ts";

const now = Date.parse("2026-11-21T10:10:00Z");
const narrow = () => fakeOutput({ live: true, width: 60 });

const columns: Column<readonly string[]>[] = [
  { title: "NAME", value: ([name]) => name },
  { title: "REGION", rank: 2, value: () => "antarctica" },
  { title: "SEED", rank: 1, value: () => "seed-1" },
  { title: "NOTE", value: ([, note]) => note },
];

it("a table with room enough shows every column", () => {
  expect(renderTable([["oak", "old"]], columns, 40)).toBe(
    "NAME   REGION       SEED     NOTE\noak    antarctica   seed-1   old\n",
  );
});

it("a table drops the columns that matter least, one after the other", () => {
  expect(renderTable([["oak", "old"]], columns, 30)).toBe("NAME   SEED     NOTE\noak    seed-1   old\n");
  expect(renderTable([["oak", "old"]], columns, 14)).toBe("NAME   NOTE\noak    old\n");
});

it("a table keeps a few words' room for prose at its end, and wraps them there", () => {
  expect(renderTable([["hornbeam", "older than the oak, but not as tall"]], columns, 34)).toBe(
    ["NAME       NOTE", "hornbeam   older than the oak, but", `${" ".repeat(11)}not as tall`, ""].join("\n"),
  );
});

it("a table shortens the longest of the columns that are left", () => {
  expect(renderTable([["dawn-redwood-of-the-east", "old"]], columns, 20)).toBe(
    "NAME            NOTE\ndawn-redwood…   old\n",
  );
});

it("the list of Shoots fits into 60 columns, with what matters most in it", () => {
  const { metadata, ...shoot } = movableShoot();
  const long = { ...shoot, metadata: { ...metadata, name: "a-shoot-of-a-long-name" } };
  const out = narrow();
  printList(out, [movableShoot(), long], { format: undefined, columns: shootColumns(now), name: () => "" });
  expect(linesOf(out.text())).toEqual([]);
  expect(out.text()).toMatch(/^NAMESPACE +NAME +LAST OPERATION +STATUS$/m);
});

it("the list of operations fits into 60 columns, with what matters most in it", () => {
  const startedAt = new Date(now - 60_000);
  const flow = { ...ids, startedAt, status: "RUNNING", shoot: "garden-development/a-shoot-of-a-long-name" };
  const out = narrow();
  const known = {
    operation: "Reconcile",
    phase: "Processing",
    errorCode: "ERR_INFRA_UNAUTHORIZED",
    seedName: "seed-1",
  };
  printList(out, [{ ...flow, ...known }], { format: undefined, columns: flowColumns(now), name: () => "" });
  expect(linesOf(out.text())).toEqual([]);
  expect(out.text()).toMatch(/^SHOOT +OPERATION +PHASE/m);
});

it("a long list of steps at the end of a line gives way before the names of the steps do", () => {
  const after = "destinationSecrets,destinationImages,oldAddressForgotten,firstSnapshot";
  const columns: Column<readonly [string, string]>[] = [
    { title: "STEP", value: ([step]) => step },
    { title: "AFTER", value: ([, after]) => after },
  ];
  const text = renderTable([["migrateOperatingSystemConfig", after]], columns, 60);
  expect(text).toMatch(/^migrateOperatingSystemConfig {3}destinationSecrets,$/m);
  expect(text.split("\n").filter((line) => line.length > 60)).toEqual([]);
});

it("a list in a pipe, and one with -o wide, drops nothing", () => {
  const list = (out: ReturnType<typeof fakeOutput>, format?: "wide") => {
    printList(out, [movableShoot()], { format, columns: shootColumns(now), name: () => "" });
    return out.text().split("\n")[0];
  };
  expect(list(fakeOutput())).toContain("CLOUDPROFILE");
  expect(list(narrow(), "wide")).toMatch(/CLOUDPROFILE.*TECHNICAL ID/);
});

it("a description fits into 60 columns with its conditions and errors", () => {
  const shoot = movableShoot();
  const condition = {
    type: "SystemComponentsHealthy",
    status: "Progressing" as const,
    lastTransitionTime: "2026-11-21T10:00:00Z",
    lastUpdateTime: "2026-11-21T10:00:00Z",
    reason: "DeploymentsNotAvailable",
    message: "Deployment kube-system/coredns has 0 of 2 replicas that are available",
  };
  const description = "Infrastructure shoot--dev--local/local is not done: the quota of its account is exceeded";
  const error = { taskID: "infrastructure", description, codes: ["ERR_INFRA_QUOTA_EXCEEDED" as const] };
  const status = { ...shoot.status, conditions: [condition], lastErrors: [error] };
  const described = { ...describeShoot({ ...shoot, status }), cleanUps: [], progress: undefined };
  const text = renderDescription(narrow(), { ...described, unanswered: undefined, blocking: undefined }, now);
  const tables = text.slice(text.indexOf("Conditions:"));
  expect(linesOf(tables)).toEqual([]);
  expect(tables).toMatch(/^ +SystemComponents\S+ +Progressing +Deployment/m);
  expect(tables.replaceAll(/\s+/g, " ")).toContain("the quota of its account is exceeded");
});

it("the status of the local environment fits into 60 columns, with the kubeconfigs whole", () => {
  const kubeconfig = "/var/lib/perennial/local/kubeconfigs/garden.yaml";
  const status = { ...local, clusters: [{ name: "garden", kubeconfig, server: "https://172.30.0.2:6443" }] };
  const text = renderStatus(narrow(), status, now);
  expect(linesOf(text)).toEqual([]);
  expect(text).toContain(kubeconfig);
});

it("the status of the local environment names what is dead or stopped, and the remedy", () => {
  const startedAt = "2026-11-21T10:00:00Z";
  const processes = [
    { name: "manager", running: false, startedAt, restarts: 0, log: "" },
    { name: "temporal", running: true, pid: 7, startedAt, restarts: 0, log: "" },
    { name: "worker-garden", running: false, startedAt, restarts: 0, log: "" },
    { name: "worker-seed-1", running: true, stopped: true, pid: 4711, startedAt, restarts: 0, log: "" },
  ];
  const text = renderStatus(fakeOutput(), { ...local, processes }, now);
  expect(text).toMatch(/^manager +Dead .*\ntemporal +Running .*\nworker-garden +Dead .*\nworker-seed-1 +Stopped /m);
  expect(text).toContain("Dead: manager, worker-garden. What is missing is started by: perennial local up\n");
  expect(text).toContain("Stopped by a signal: worker-seed-1. It is let go on by: kill -CONT 4711\n");
  expect(renderStatus(fakeOutput(), local, now)).not.toMatch(/Dead|Stopped/);
});

it("the status of the local environment says how often a process has died, and that the supervisor sees to it", () => {
  const known = { startedAt: "2026-11-21T10:00:00Z", log: "" };
  const manager = { ...known, name: "manager", running: false, restarts: 2 };
  const supervisor = { ...known, name: "supervisor", running: true, pid: 7, restarts: 0 };
  const text = renderStatus(fakeOutput(), { ...local, processes: [manager, supervisor] }, now);
  expect(text).toMatch(/^manager +Dead +<none> +<none> +2 /m);
  expect(text).toContain(
    "Dead: manager. The supervisor starts again what died, within a minute; at once: perennial local up\n",
  );
});

it("the status of the local environment names machines that are down, and what boots them", () => {
  const machine = { providerID: "", address: "172.30.0.2", labels: {}, createdAt: "2026-11-21T10:00:00Z" };
  const machines = [
    { ...machine, name: "seed-1", running: false },
    { ...machine, name: "seed-2", running: true },
  ];
  const text = renderStatus(fakeOutput(), { ...local, machines }, now);
  expect(text).toContain("Down: seed-1. The supervisor and the local provider boot machines again");
  expect(text).toContain("if they do not run: perennial local up\n");
});

it("the remedy for an environment of another name can be pasted", () => {
  const manager = { name: "manager", running: false, startedAt: "2026-11-21T10:00:00Z", restarts: 0, log: "" };
  const text = renderStatus(fakeOutput(), { ...local, name: "two", processes: [manager] }, now);
  expect(text).toContain("What is missing is started by: perennial local up --name two\n");
});

const local: EnvironmentStatus = {
  ...{ name: "local", stateDir: "/var/lib/perennial/local", mode: "machines", clusters: [] },
  ...{ processes: [], machines: [], ports: {} },
};

const ids = { workflowId: "shoot/a/b/5f0c/reconcile", runId: "r", type: "reconcile" };

/** The lines that are too long for the window. */
const linesOf = (text: string): string[] => text.split("\n").filter((line) => line.length > 60);
