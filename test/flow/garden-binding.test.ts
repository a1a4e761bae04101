import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { watchBinding } from "../../src/binding/watch.ts";
import { BoundElsewhere } from "../../src/binding/bound-elsewhere.ts";
import { createGardenBinding } from "../../src/client/garden-binding.ts";
import { readClusterIdentity } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { startGatewayLab, type GatewayLab } from "../support/gateway-lab.ts";

const root = join(import.meta.dirname, "../..");
const log = createLogger({ name: "test", level: "silent" });
let lab: GatewayLab;
let garden: Client;
let cluster: ControlPlane;
let folder: string;

beforeAll(async () => {
  [lab, cluster] = await Promise.all([startGatewayLab(), startControlPlane()]);
  folder = await mkdtemp(join(tmpdir(), "perennial-binding-"));
  garden = await lab.connect(await lab.asGarden());
  await applyCrds(cluster.client);
});
afterAll(async () => {
  await Promise.all([lab.stop(), cluster.stop()]);
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => bindTo(""));

/** As an operator does it: `temporal operator namespace update --data`. */
const bindTo = async (uid: string) =>
  void (await lab.temporal.client.workflowService.updateNamespace({
    namespace: "default",
    updateInfo: { data: { "perennial-garden": uid } },
  }));

describe("Temporal's namespace", () => {
  it("belongs to the garden that uses it first, and the other's worker is told both and the remedy", async () => {
    await createGardenBinding(garden, "uid-a").bind();
    await createGardenBinding(garden, "uid-a").check();
    const other = createGardenBinding(garden, "uid-b");
    for (const ask of [() => other.bind(), () => other.check()])
      await expect(ask()).rejects.toThrow(
        "Temporal's namespace default belongs to the garden uid-a, and this is the garden uid-b: name a namespace of its own in PERENNIAL_TEMPORAL_NAMESPACE",
      );
    await bindTo("uid-b");
    await other.bind();
  });

  it("belongs to one of several gardens whose workers begin at once, and all others find that out", async () => {
    const bindings = ["a", "b", "c", "d"].map((uid) => createGardenBinding(garden, uid));
    await Promise.allSettled(bindings.map((binding) => binding.bind()));
    const checks = await Promise.allSettled(bindings.map((binding) => binding.check()));
    expect(checks.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("cannot be bound by the worker of a seed, which may look whose it is", async () => {
    const seed = await lab.connect(await lab.asSeed("seed-1"));
    await expect(createGardenBinding(seed, "uid-s").bind()).rejects.toThrow(/may not call UpdateNamespace/);
    await bindTo("uid-a");
    await createGardenBinding(seed, "uid-a").check();
    await expect(createGardenBinding(seed, "uid-b").check()).rejects.toBeInstanceOf(BoundElsewhere);
  });

  it("that is given to another garden ends the processes of the first one, while they run", async () => {
    const binding = createGardenBinding(garden, "uid-a");
    await binding.bind();
    const errors: BoundElsewhere[] = [];
    const look = async () => (await binding.check(), true);
    const watch = await watchBinding({ look, onElsewhere: (error) => void errors.push(error), log, period: 50 });
    await watch.bound;
    await bindTo("uid-b");
    await eventually(() => expect(errors).toHaveLength(1));
    watch.stop();
  });
});

describe("a process of another garden", () => {
  /** Runs to its end, which is soon. */
  const run = async (args: readonly string[], more: Record<string, string> = {}) => {
    const { address, caFile = "", certFile = "", keyFile = "" } = await lab.asGarden();
    const env = {
      PATH: process.env["PATH"] ?? "",
      PERENNIAL_TEMPORAL_ADDRESS: address,
      PERENNIAL_TEMPORAL_CA_FILE: caFile,
      PERENNIAL_TEMPORAL_CERT_FILE: certFile,
      PERENNIAL_TEMPORAL_KEY_FILE: keyFile,
      PERENNIAL_GARDEN_KUBECONFIG: cluster.kubeconfigFile,
      PERENNIAL_STATE_DIR: folder,
      ...more,
    };
    return await new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, args, { cwd: root, env, timeout: 60_000 }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? error?.signal ?? 0, output: `${stdout}${stderr}` }),
      );
    });
  };

  it.each([
    ["manager", ["src/manager/main.ts"]],
    ["garden's worker", ["src/worker/main.ts", "garden"]],
    ["seed's worker", ["src/worker/main.ts", "seed"]],
    ["command line", ["src/cli/main.ts", "flow", "list"]],
  ])("does not start: the %s says which garden it is of, and whose the namespace is", async (_, args) => {
    await bindTo("uid-of-another-garden");
    const own = await readClusterIdentity(cluster.client);
    const seed = { PERENNIAL_SEED_NAME: "seed-1", PERENNIAL_SEED_KUBECONFIG: cluster.kubeconfigFile };
    const keys = { PERENNIAL_STATE_KEYS_FILE: cluster.kubeconfigFile };
    const { code, output } = await run(args, { ...seed, ...keys });
    expect(output).toContain("belongs to the garden uid-of-another-garden");
    expect(output).toContain(`this is the garden ${own}`);
    expect(code).not.toBe(0);
  });
});
