import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Shoot } from "../../../src/api/index.ts";
import { CONTROL_PLANE_ID_LABEL } from "../../../src/api/labels.ts";
import { createReflector, Lease, Namespace, refTo, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { ownClusterTest } from "../cluster-test.ts";
import type { ControlPlane } from "../control-plane.ts";
import { startCoreManager } from "../core-manager.ts";
import { applyCrds } from "../crds.ts";
import { startDnsExtension } from "../endpoint-record-lab.ts";
import { startFaultyProxy } from "../faulty-proxy.ts";
import { freePorts } from "../free-ports.ts";
import { startGarbageCollector } from "../garbage-collector.ts";
import { startNameServer, type TestNameServer } from "../name-server.ts";
import { createOwnProcess, type OwnProcess } from "../own-process.ts";
import { servePlayedControlPlanes } from "../played-control-plane.ts";
import { servePlayedMachines } from "../played-machines.ts";
import { createMortal } from "./mortal.ts";
import { patientClient } from "./patient-client.ts";
import { layTrap, type KillPoint, type Write } from "./trap.ts";

/**
 * The process `cluster-api` as it is deployed and the core manager, both of which can be killed at any of their writes, in one
 * cluster that is the garden, too; with Kubernetes' own garbage collector, a name server and a DNS extension.
 */
export interface KillLab {
  readonly cluster: ControlPlane;
  readonly dns: TestNameServer;
  /** Notes what both write about a Cluster from now on. */
  follow(cluster: string): Following;
  /** Kills with SIGKILL, once, and starts anew what was killed. */
  arm(cluster: string, fate: Fate): Kill;
  /** The uids of all Shoots that ever were under this name. */
  shootsSeen(name: string): readonly string[];
}

/** A process that can be killed at its writes. */
export type MortalName = "cluster-api" | "manager";

/** At which write, and of whom; and whether the other dies with it. */
export interface Fate extends KillPoint {
  readonly of: MortalName;
  readonly both?: boolean;
}

/** What is written about a Cluster. */
export interface Following {
  writes(of: MortalName): readonly Write[];
  /** Resolves when neither has written anything about it for so long, in ms. */
  quiet(period: number): Promise<void>;
}

/** A kill that has been planned. */
export interface Kill {
  happened(): boolean;
  /** Plans it no more; resolves when all runs again, if it was killed. */
  settle(): Promise<void>;
}

/** Tests that kill the processes. */
export const killTest = ownClusterTest().extend("lab", { scope: "file" }, async ({ cluster }, { onCleanup }) => {
  const { lab, stop } = await startKillLab(cluster);
  onCleanup(stop);
  return lab;
});

async function startKillLab(cluster: ControlPlane) {
  const { client } = cluster;
  const coreProxy = await startFaultyProxy(cluster.tokenKubeconfig);
  const core = await startCoreManager(cluster, coreProxy.kubeconfigFile);
  await applyCrds(client);
  await servePlayedControlPlanes(client);
  await servePlayedMachines(client);
  for (const name of ["garden-dev", "perennial"]) await client.apply({ ...typeMeta(Namespace), metadata: { name } });
  const collector = await startGarbageCollector(cluster, dirname(cluster.kubeconfigFile));
  const dns = await startNameServer();
  const extension = startDnsExtension(client);
  const ownProxy = await startFaultyProxy(cluster.tokenKubeconfig);
  const own = await describeOwn(ownProxy.kubeconfigFile);
  await own.start();
  const shoots = watchShoots(client);

  const mortals = {
    "cluster-api": createMortal({ trap: layTrap(ownProxy), kill: own.kill, start: () => startAnew(client, own) }),
    manager: createMortal({ trap: layTrap(coreProxy), kill: core.kill, start: core.start }),
  };
  const lab: KillLab = {
    ...{ cluster: { ...cluster, client: patientClient(client) }, dns, shootsSeen: shoots.seen },
    follow(name) {
      const followed = {
        "cluster-api": mortals["cluster-api"].trap.follow(name),
        manager: mortals.manager.trap.follow(name),
      };
      return {
        writes: (of) => followed[of].writes,
        async quiet(period) {
          const last = () => Math.max(...Object.values(followed).map(({ lastAt }) => lastAt()));
          for (let left = period; left > 0; left = last() + period - Date.now()) await sleep(left);
        },
      };
    },
    arm(name, { of, both = false, ...point }) {
      const dying = both ? Object.values(mortals) : [mortals[of]];
      let happened = false;
      const callOff = mortals[of].trap.set(name, point, async () => {
        happened = true;
        await Promise.all(dying.map((one) => one.die()));
      });
      return {
        happened: () => happened,
        async settle() {
          callOff();
          await Promise.all(dying.map((one) => one.revived()));
        },
      };
    },
  };
  return {
    lab,
    async stop() {
      await shoots.stop();
      await own.close();
      await core.kill();
      await extension.stop();
      await dns.stop();
      await Promise.all([ownProxy.close(), coreProxy.close()]);
      await collector.kill();
    },
  };
}

async function describeOwn(kubeconfigFile: string): Promise<OwnProcess> {
  const [port] = await freePorts(1);
  return createOwnProcess({
    folder: "cluster-api",
    readyMade: join(import.meta.dirname, "../ready-made-main.ts"),
    env: {
      PERENNIAL_GARDEN_KUBECONFIG: kubeconfigFile,
      PERENNIAL_WEBHOOK_HOST: "127.0.0.1",
      PERENNIAL_WEBHOOK_PORT: String(port),
    },
  });
}

/** A killed leader holds its Lease for its time: that time is taken to be over. */
async function startAnew(client: KubeClient, own: OwnProcess): Promise<void> {
  await client.remove(refTo(Lease, { namespace: "perennial", name: "perennial-cluster-api" }));
  await own.start();
}

function watchShoots(client: KubeClient) {
  const uids = new Map<string, Set<string>>();
  const watch = createReflector(client, Shoot, {
    labelSelector: CONTROL_PLANE_ID_LABEL,
    onEvent({ object: { metadata } }) {
      uids.set(metadata.name, (uids.get(metadata.name) ?? new Set()).add(metadata.uid ?? ""));
    },
  });
  watch.start();
  return { seen: (name: string) => [...(uids.get(name) ?? [])], stop: () => watch.stop() };
}
