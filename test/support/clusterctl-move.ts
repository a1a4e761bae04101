import { expect } from "vitest";
import {
  BLOCK_MOVE_ANNOTATION,
  Cluster,
  EndpointRecord,
  Machine,
  ShootControlPlane,
} from "../../src/api/cluster-api/index.ts";
import { refOf, unlessGone } from "../../src/kube/index.ts";
import { spawnChild } from "./child.ts";
import { eventually } from "./eventually.ts";
import type { Passing } from "./faulty-proxy.ts";
import { movedKinds, PATIENCE } from "./moved-cluster.ts";
import { namespace, type Management } from "./move-management.ts";
import { objectsIn, saidBy } from "./objects-in.ts";

/** Which write of clusterctl is its last: its number, or the first that matches; it reaches the API server if `moment` is `after`. */
export interface MovePoint {
  readonly write: number | RegExp;
  readonly moment: "before" | "after";
}

/**
 * Moves all Clusters by the real clusterctl, which is killed with SIGKILL at this write, and goes on as docs/cluster-api.md has
 * operators do. Says at which write it died.
 */
export async function moveAll(
  folder: string,
  from: Management,
  to: Management,
  at?: MovePoint,
): Promise<string | undefined> {
  await eventually(() => expectMovable(from), PATIENCE);
  const died = await runClusterctl(folder, from, to, at);
  if (died !== undefined) await goOn(folder, from, to);
  return died;
}

/** clusterctl refuses a Cluster that is paused, and forgets one that it has moved and not resumed. */
async function goOn(folder: string, from: Management, to: Management): Promise<void> {
  await resume(from);
  await seenResumed(from);
  if ((await clustersOf(from)).length > 0) await runClusterctl(folder, from, to);
  await resume(to);
}

const clustersOf = ({ cluster: { client } }: Management): Promise<Cluster[]> => client.list(Cluster, { namespace });

async function resume(management: Management): Promise<void> {
  for (const one of await clustersOf(management))
    await unlessGone(management.cluster.client.patch(refOf(one), { spec: { paused: null } }));
}

/**
 * What was being deleted on the source has gone, and the rest is not kept off any more: a repeated clusterctl copies `deletionTimestamp`,
 * which the target refuses, and pauses the Cluster before core has let go of it.
 */
async function seenResumed({ cluster: { client } }: Management): Promise<void> {
  await eventually(async () => {
    const left = await objectsIn(client, movedKinds);
    const leaving = left.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    expect(leaving.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([]);
    const saying = await objectsIn(client, [ShootControlPlane, EndpointRecord]);
    expect(saying.map((one) => saidBy(one)["Paused"])).toEqual(saying.map(() => "False"));
  }, PATIENCE);
}

const isMoved = async (from: Management, to: Management): Promise<boolean> =>
  (await clustersOf(from)).length === 0 && (await clustersOf(to)).length > 0;

/** What clusterctl asks of Clusters and Machines before it begins. */
async function expectMovable(management: Management): Promise<void> {
  const { client } = management.cluster;
  const initialized = { infrastructureProvisioned: true, controlPlaneInitialized: true };
  for (const { metadata, status } of await clustersOf(management))
    expect(status?.initialization, metadata.name).toMatchObject(initialized);
  for (const { metadata, status } of await client.list(Machine, { namespace }))
    expect(status, `Machine ${metadata.name}`).toMatchObject({ nodeRef: {} });
  const blocking = (await objectsIn(client, [ShootControlPlane])).filter(
    ({ metadata }) => BLOCK_MOVE_ANNOTATION in (metadata.annotations ?? {}),
  );
  expect(blocking.map(({ metadata }) => metadata.name)).toEqual([]);
}

const isWrite = (line: string): boolean =>
  /^(POST|PUT|PATCH|DELETE) /.test(line) && !line.includes("authorization.k8s.io");

/** Runs clusterctl to its end, or to the write at which it dies; throws what it says where it has not moved all. */
async function runClusterctl(
  folder: string,
  from: Management,
  to: Management,
  at?: MovePoint,
): Promise<string | undefined> {
  let [count, died, target] = [0, undefined as string | undefined, ""];
  const look =
    (side: string) =>
    async ({ id, line, moment }: Passing) => {
      if (at === undefined || !isWrite(line)) return true;
      if (moment === "asked") {
        count += 1;
        const isMeant = typeof at.write === "number" ? count === at.write : at.write.test(line);
        if (isMeant && target === "") target = `${side} ${id}`;
      }
      if (target !== `${side} ${id}` || moment !== (at.moment === "before" ? "asked" : "answered")) return true;
      died = `${side} ${line}`;
      await (await running).kill();
      return false;
    };
  from.proxy.watch(look("source"));
  to.proxy.watch(look("target"));
  const running = spawnChild(
    folder,
    "clusterctl",
    ["move", "-n", namespace, "--kubeconfig", from.proxy.kubeconfigFile, "--to-kubeconfig", to.proxy.kubeconfigFile],
    ["env", "CLUSTERCTL_DISABLE_VERSIONCHECK=true", `XDG_CONFIG_HOME=${folder}`],
  );
  const child = await running;
  await child.exited;
  for (const { proxy } of [from, to]) proxy.watch(() => true);
  if (died === undefined && !(await isMoved(from, to))) throw new Error(child.output().slice(-2000));
  return died;
}
