import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { DNSRecord, type KubeObject } from "../../src/api/index.ts";
import { ConfigMap, Event, Lease, refTo } from "../../src/kube/index.ts";
import { findBinary } from "../support/binary.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";

const support = join(import.meta.dirname, "../support");
let plane: ControlPlane;
let directory: string;
let extension: ChildProcess;
let port: number;

/** The page's process, with the rights of the page's ServiceAccount. */
test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  directory = await mkdtemp(join(tmpdir(), "extension-hosts-"));
  await plane.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden" } });
  const documents = parseAllDocuments(await readFile(join(support, "hosts-rbac.yaml"), "utf8"));
  for (const document of documents) await plane.client.apply(document.toJS() as KubeObject);
  const file = join(directory, "kubeconfig");
  await writeFile(file, await kubeconfigOf("extension-hosts"), { mode: 0o600 });
  const main = [
    "KILL",
    process.execPath,
    "--disable-warning=ExperimentalWarning",
    fileURLToPath(import.meta.resolve("../support/hosts-main.ts")),
  ];
  [port = 0] = await freePorts(1);
  extension = spawn("setpriv", ["--pdeathsig", ...main], {
    env: { ...process.env, KUBECONFIG: file, HEALTH_PORT: String(port) },
    stdio: "ignore",
  });
});
afterAll(async () => {
  extension?.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

describe("the extension of docs/extending.md", () => {
  test("is on the page as it is here", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/extending.md"), "utf8");
    for (const name of ["hosts-extension.ts", "hosts-main.ts", "hosts-rbac.yaml"]) {
      const [, block] = new RegExp(`\`\`\`\\w+ ${name}\\n([^]*?)\`\`\``).exec(page) ?? [];
      const text = (await readFile(join(support, name), "utf8"))
        .replaceAll("../../src/extension/index.ts", "perennial/extension")
        .replaceAll("../../src/api/index.ts", "perennial/api");
      expect(withoutSpace(block ?? "")).toBe(withoutSpace(text));
    }
  });

  test("does what the page says, with the rights that the page gives it", async () => {
    await apply("hello", { name: "hello.example.org", recordType: "A", values: ["192.0.2.7"] });
    await apply("other", { name: "other.example.org", recordType: "A", values: ["192.0.2.8", "192.0.2.9"] });
    await eventually(async () => {
      expect(await hostsFile()).toBe(
        "192.0.2.7 hello.example.org\n192.0.2.8 other.example.org\n192.0.2.9 other.example.org\n",
      );
      expect((await read("hello"))?.status).toMatchObject({ zone: "hosts", lastOperation: { state: "Succeeded" } });
    });
    await plane.client.remove(ref("hello"));
    await eventually(async () => (await read("hello")) === undefined);
    expect(await hostsFile()).toBe("192.0.2.8 other.example.org\n192.0.2.9 other.example.org\n");
  });

  test("says what it can't do", async () => {
    await apply("text", { name: "text.example.org", recordType: "TXT", values: ["x"] });
    await eventually(async () =>
      expect((await read("text"))?.status?.lastError).toMatchObject({
        description: "Error creating DNSRecord: a hosts file has no TXT records",
        codes: ["ERR_CONFIGURATION_PROBLEM"],
      }),
    );
  });

  test("tells of each operation's end by an Event, and counts up what happens again", async () => {
    const told = async (name: string) =>
      (await plane.client.list(Event, { namespace: "garden" }))
        .map((event) => event as unknown as Told)
        .filter(({ regarding }) => regarding.name === name);
    await eventually(async () => {
      expect((await told("hello")).map(({ reason }) => reason).sort()).toEqual(["Created", "Deleted"]);
      const [failure, ...more] = await told("text");
      expect(more).toEqual([]);
      expect(failure).toMatchObject({
        type: "Warning",
        reason: "CreateError",
        action: "Create",
        note: "Error creating DNSRecord: a hosts file has no TXT records [ERR_CONFIGURATION_PROBLEM]",
        reportingController: "extension-hosts",
      });
      expect(failure?.series?.count).toBeGreaterThan(1);
    });
  });

  test("counts its operations, where Prometheus finds them", async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const labels = 'kind="DNSRecord",type="hosts"';
    expect(metrics).toContain(`extension_operations_total{${labels},operation="Create",result="succeeded"} 2\n`);
    expect(metrics).toMatch(
      new RegExp(`extension_operations_total{${labels},operation="Create",result="failed"} [1-9]`),
    );
    expect(metrics).toContain(`extension_operation_duration_seconds_count{${labels},operation="Delete"} 1\n`);
    expect(metrics).toContain(`extension_queue_depth{${labels}} 0\n`);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).ok).toBe(true);
  });

  test("tells that it is alive, and ends when it is told to", async () => {
    const lease = { namespace: "extension-hosts", name: "gardener-extension-heartbeat" };
    await eventually(async () => (await plane.client.read(Lease, lease)) !== undefined);
    extension.kill("SIGTERM");
    const [code] = (await once(extension, "exit")) as [number | null];
    expect(code).toBe(0);
  });
});

/** What the test looks at of an Event. */
interface Told {
  readonly regarding: { readonly name: string };
  readonly reason: string;
  readonly series?: { readonly count: number };
}

/** A kubeconfig with a token of the ServiceAccount `name` in the namespace `name`. */
async function kubeconfigOf(name: string): Promise<string> {
  const args = ["--kubeconfig", plane.kubeconfigFile, "--namespace", name, "create", "token", name];
  const { stdout } = await promisify(execFile)(await findBinary("kubectl"), args);
  const kubeconfig = parse(plane.kubeconfig) as { users: { user: unknown }[] };
  for (const user of kubeconfig.users) user.user = { token: stdout.trim() };
  return stringify(kubeconfig);
}

async function apply(name: string, spec: object): Promise<void> {
  const { apiVersion, kind, namespace } = ref(name);
  const metadata = { name, namespace, annotations: { "gardener.cloud/operation": "reconcile" } };
  const secretRef = { name: "none", namespace };
  await plane.client.apply({ apiVersion, kind, metadata, spec: { type: "hosts", secretRef, ...spec } });
}

async function hostsFile(): Promise<string> {
  const found = await plane.client.read(ConfigMap, { name: "hosts", namespace: "kube-system" });
  const data = (found?.["data"] ?? {}) as Record<string, string>;
  return Object.entries(data)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, lines]) => lines)
    .join("");
}

const read = (name: string) => plane.client.read(ref(name));
const ref = (name: string) => refTo(DNSRecord, { name, namespace: "garden" });
const withoutSpace = (text: string) => text.replaceAll(/[\s,]/g, "");
