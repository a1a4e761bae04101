import { setTimeout as delay } from "node:timers/promises";
import { KUBELET_UNIT } from "../../api/names.ts";
import { ETCDS, etcdHealthUrl, type EtcdRole } from "../../components/etcd/addresses.ts";
import { holdToData, mayStartWith } from "../../etcd-data/let-start.ts";
import { dataPlaceOf, type DataPlace } from "../../etcd-data/place.ts";
import type { Logger } from "../../log.ts";
import { createSystemctl } from "../../node-agent/commands.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { waitForLock } from "../machine/lock.ts";
import { announceLoss } from "./announce-loss.ts";
import { endApiServer } from "./end-programs.ts";
import { mendedAside, putManifestsBack } from "./manifests.ts";
import { forgetLoss, keepLoss, readLoss } from "./loss.ts";
import { readBegun, unfinished } from "../machine/begun-restore.ts";
import { mayStart, readRelearning } from "./relearn.ts";
import { createClusterClient } from "../cluster/client.ts";

/** What guards the data of the etcds on a control-plane node. */
export interface GuardDeps {
  readonly identity: Pick<AgentIdentity, "root" | "node" | "places" | "adminKubeconfig">;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** In ms: how often is looked; how long an etcd may take to start, on a slow disk too; and until data that were good are judged again. */
const EVERY = 5_000;
const LONGEST_START = 60_000;
const PAUSE = 600_000;

/**
 * Marks that there are data as soon as an etcd is ready; where one is not for a minute, or its folder or log is gone, has it looked at
 * and, if its data are lost, mended. What was lost is said once the API server answers, however often the agent ends between.
 */
export async function guardData(deps: GuardDeps): Promise<void> {
  const { identity, log, signal } = deps;
  const { root } = identity;
  const downSince = new Map<EtcdRole, number>();
  /** What was said last: an outage is told of once. */
  const troubles = new Map<EtcdRole, string>();
  // A killed agent has left them.
  for (const role of ETCDS) if (await mayStart(root, role)) await putManifestsBack(root, mendedAside(root, role));
  while (!signal.aborted) {
    for (const role of ETCDS)
      await look(deps, role, downSince).then(
        () => troubles.delete(role),
        (error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          if (!signal.aborted && troubles.get(role) !== reason)
            log.warn({ etcd: role, reason }, "etcd data not looked after");
          troubles.set(role, reason);
        },
      );
    await delay(EVERY, undefined, { signal }).catch(() => {});
  }
}

async function look(deps: GuardDeps, role: EtcdRole, downSince: Map<EtcdRole, number>): Promise<void> {
  const { identity, log, signal } = deps;
  const { root, places } = identity;
  const place = dataPlaceOf(role, root);
  const alone = async <T>(work: () => Promise<T>) => await waitForLock(places.lock, signal, work);
  const relearning = await readRelearning(root, role);
  if (relearning !== undefined)
    return await (await mending()).goOnLearning(role, relearning, { root, log, signal }, alone);
  if (await isReady(role)) {
    downSince.delete(role);
    await holdToData(place);
    return await tell(deps, role);
  }
  const isFirstLook = !downSince.has(role);
  const isDue = isOver(downSince, role) || (isFirstLook && (await isGone(place)));
  if (!isDue) return;
  const begun = await readBegun(root);
  if (begun !== undefined) throw new Error(unfinished(begun.from));
  const { mend } = await mending();
  const loss = await alone(async () => await mend(role, { root, log, signal })).catch((error: unknown) => {
    downSince.set(role, Date.now());
    throw error;
  });
  downSince.set(role, Date.now() + (loss === undefined ? PAUSE : LONGEST_START));
  if (loss === undefined) return;
  if (loss !== "learns") await keepLoss(root, loss);
  if (role === "main") await endApiServer(root);
  // A kubelet starts what has failed later each time; one that has just begun starts it at once.
  await createSystemctl()(["restart", KUBELET_UNIT], signal);
}

/** Without its data, no etcd starts: that need not be waited for. */
const isGone = async ({ dataDir }: DataPlace): Promise<boolean> => !(await mayStartWith(dataDir));

/** An agent at rest does without what it loads. */
const mending = async () => await import("./mend.ts");

function isOver(downSince: Map<EtcdRole, number>, role: EtcdRole): boolean {
  const since = downSince.get(role) ?? Date.now();
  downSince.set(role, since);
  return Date.now() - since > LONGEST_START;
}

async function isReady(role: EtcdRole): Promise<boolean> {
  const answer = await fetch(etcdHealthUrl(role), { signal: AbortSignal.timeout(EVERY) }).catch(() => undefined);
  return answer?.ok === true;
}

/** Says what was lost, if it was not said yet. */
async function tell({ identity: { root, node, adminKubeconfig: file }, log }: GuardDeps, role: EtcdRole) {
  const loss = await readLoss(root, role);
  if (loss === undefined) return await forgetLoss(root, role);
  const client = createClusterClient({ file }, { userAgent: "gardener-node-agent", log });
  try {
    await announceLoss(client, node, loss, log);
    await forgetLoss(root, role);
  } finally {
    await client.close();
  }
}
