import { dirname } from "node:path";
import { expect } from "vitest";
import { CONTROL_PLANE_ID_LABEL } from "../../src/api/labels.ts";
import { Shoot } from "../../src/api/index.ts";
import { createReflector, Lease, Namespace, refTo, typeMeta } from "../../src/kube/index.ts";
import { clusterApiTest, type CoreManager } from "./cluster-api.ts";
import type { ControlPlane } from "./control-plane.ts";
import { applyCrds } from "./crds.ts";
import { startFaultyProxy } from "./faulty-proxy.ts";
import { freePorts } from "./free-ports.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { createOwnProcess } from "./own-process.ts";

/** The process `cluster-api` as it is deployed, which can be killed at any of its writes; beside the core manager, in one cluster that is the garden, too. */
export interface KillLab {
  readonly cluster: ControlPlane;
  readonly core: CoreManager;
  /** Kills the process with SIGKILL once, and starts it anew. */
  arm(where: KillPoint): Kill;
  /** The uids of all Shoots that ever were under this name. */
  shootsSeen(name: string): readonly string[];
}

/** Which write is the last of the process's life, counted from now on: its number, or the first that matches. */
export interface KillPoint {
  readonly write: number | RegExp;
  /** Before the API server gets it, or after the API server has answered and before the process knows. */
  readonly moment: "before" | "after";
  /** The core manager is killed with it. */
  readonly withManager?: boolean;
}

/** A kill that has been planned. */
export interface Kill {
  /** The write at which it happened; undefined while it has not. */
  at(): string | undefined;
  /** Plans it no more; resolves when the process runs again, if it was killed. */
  settle(): Promise<void>;
}

/** Tests that kill the process. */
export const killTest = clusterApiTest.extend("lab", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
  const { lab, stop } = await startKillLab(cluster, core);
  onCleanup(stop);
  return lab;
});

/** What a write is, besides Leases, of which each is as the one before, and Events, which nothing waits for. */
const isWrite = (line: string): boolean => /^(POST|PUT|PATCH|DELETE) /.test(line) && !/\/(leases|events)\b/.test(line);

async function startKillLab(cluster: ControlPlane, core: CoreManager) {
  const { client } = cluster;
  await applyCrds(client);
  for (const name of ["garden-dev", "perennial"]) await client.apply({ ...typeMeta(Namespace), metadata: { name } });
  const collector = await startGarbageCollector(cluster, dirname(cluster.kubeconfigFile));
  const proxy = await startFaultyProxy(cluster.tokenKubeconfig);
  const [port] = await freePorts(1);
  const own = createOwnProcess({
    folder: "cluster-api",
    env: {
      PERENNIAL_GARDEN_KUBECONFIG: proxy.kubeconfigFile,
      PERENNIAL_WEBHOOK_HOST: "127.0.0.1",
      PERENNIAL_WEBHOOK_PORT: String(port),
    },
  });
  const shoots = new Map<string, Set<string>>();
  const watch = createReflector(client, Shoot, {
    labelSelector: CONTROL_PLANE_ID_LABEL,
    onEvent({ object: { metadata } }) {
      shoots.set(metadata.name, (shoots.get(metadata.name) ?? new Set()).add(metadata.uid ?? ""));
    },
  });
  watch.start();
  await own.start();

  /** A killed leader holds its Lease for its time: that time is taken to be over. */
  async function restart(): Promise<void> {
    await client.remove(refTo(Lease, { namespace: "perennial", name: "perennial-cluster-api" }));
    await own.start();
  }

  async function killAll(withManager: boolean): Promise<void> {
    await Promise.all([own.kill(), withManager ? core.kill() : undefined]);
  }

  const lab: KillLab = {
    ...{ cluster, core },
    shootsSeen: (name) => [...(shoots.get(name) ?? [])],
    arm({ write, moment, withManager = false }) {
      let [count, at, target] = [0, undefined as string | undefined, undefined as number | undefined];
      let restarted = Promise.resolve();
      proxy.watch(async ({ id, line, moment: now }) => {
        if (!isWrite(line) || at !== undefined) return true;
        if (now === "asked") {
          count += 1;
          const isMeant = typeof write === "number" ? count === write : write.test(line);
          if (isMeant) target ??= id;
        }
        if (id !== target || now !== (moment === "before" ? "asked" : "answered")) return true;
        at = line;
        await killAll(withManager);
        restarted = Promise.all([restart(), withManager ? core.start() : undefined]).then(() => undefined);
        restarted.catch(() => undefined); // settle() tells
        return false;
      });
      return {
        at: () => at,
        async settle() {
          proxy.watch(() => true);
          await restarted;
        },
      };
    },
  };
  return {
    lab,
    async stop() {
      await watch.stop();
      await own.kill();
      await proxy.close();
      await collector.kill();
    },
  };
}

/** Runs a scenario under this name while the kill is planned, and expects the same end as ever, and one Shoot. Says at which write the process died. */
export async function runKilled(lab: KillLab, scenario: KillScenario, name: string, where: KillPoint) {
  await scenario.begin?.(lab, name);
  const kill = lab.arm(where);
  try {
    await scenario.run(lab, name);
  } catch (error) {
    throw new Error(`${scenario.title}: no end after SIGKILL ${where.moment} ${kill.at()}`, { cause: error });
  } finally {
    await kill.settle();
  }
  expect(lab.shootsSeen(name), `Shoots after SIGKILL ${where.moment} ${kill.at()}`).toHaveLength(1);
  return kill.at();
}

/** What users and flows do with one Cluster. */
export interface KillScenario {
  readonly title: string;
  /** Brings what there is at its beginning; nothing is killed meanwhile. */
  begin?(lab: KillLab, name: string): Promise<void>;
  /** Does it, and resolves when the end is reached; throws while it is not. */
  run(lab: KillLab, name: string): Promise<void>;
}
