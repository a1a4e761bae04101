import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ADMIN_KUBECONFIG, RENEWAL_UNIT, type NodeRole } from "../../api/names.ts";
import { readJournal } from "../../in-process/journal.ts";
import { isForbidden, Node, type KubeClient } from "../../kube/index.ts";
import { UNIT_FOLDER } from "../../node-agent/wanted.ts";
import { placesIn } from "../machine/places.ts";
import { isThere } from "../machine/is-there.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { readRole } from "../machine/role.ts";
import { readBegun } from "../machine/begun-restore.ts";
import { readShootStatus, type ShootStatus } from "../cluster/shoot-status.ts";
import { readBackup, readBackupOfWorker } from "./backup.ts";
import { findCertificates } from "../machine/certificates.ts";
import { etcdsOfWorker, readEtcds } from "./etcd.ts";
import { lastRunOf, type Answer, type MachineReport, type NodeReport } from "./report.ts";
import { createClusterClient } from "../cluster/client.ts";

/** How long is waited, in ms: for a part of the machine, for its API server, and for what is asked by programs of others. */
export interface Timeouts {
  readonly part: number;
  readonly server: number;
  readonly program: number;
}

const TIMEOUTS: Timeouts = { part: 3_000, server: 4_000, program: 9_000 };

/**
 * Looks at the machine whose `/` is this folder: all at once, each part with a deadline. What does not answer is said so, and nothing
 * is waited for beyond that.
 */
export async function readMachine(root: string, timeouts: Timeouts = TIMEOUTS): Promise<MachineReport> {
  const places = placesIn(root);
  const role =
    (await readRole(agentPlacesIn(root))) ?? ((await isThere(places.shootUid)) ? "control-plane" : undefined);
  const configDirectory = (await readFile(places.configDirectory, "utf8").catch(() => "")).trim();
  const lastRun = lastRunOf(await readJournal(places.journal));
  const restore = await readBegun(root);
  return {
    host: hostname(),
    ...(role === undefined ? {} : { role, ...(await readParts(root, role, timeouts)) }),
    imported: await isThere(places.imported),
    ...(configDirectory === "" ? {} : { configDirectory }),
    certificates: await findCertificates(root),
    canRenew: await isThere(join(root, UNIT_FOLDER, RENEWAL_UNIT)),
    ...(lastRun === undefined ? {} : { lastRun }),
    ...(restore === undefined ? {} : { restoresFrom: restore.from }),
  };
}

async function readParts(root: string, role: NodeRole, timeouts: Timeouts) {
  const isWorker = role === "worker";
  const deadline = AbortSignal.timeout(timeouts.program);
  const [kubelet, etcds, server] = await Promise.all([
    ask("http://127.0.0.1:10248/healthz", timeouts.part),
    isWorker ? etcdsOfWorker() : readEtcds(root, deadline),
    withServer(root, role, async (client) => await askServer(root, client, { isWorker, timeouts, deadline })),
  ]);
  return { kubelet, etcds, ...server };
}

async function ask(url: string, milliseconds: number): Promise<Answer> {
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(milliseconds) });
    return ok ? { ready: true } : { ready: false, reason: `it answers with status ${status}` };
  } catch (error) {
    return { ready: false, reason: `not reachable: ${reasonOf(error)}` };
  }
}

/** A client that is not closed in time does not hold the command up. */
async function withServer<T>(
  root: string,
  role: NodeRole,
  work: (client: KubeClient | undefined) => Promise<T>,
): Promise<T> {
  const file = role === "worker" ? agentPlacesIn(root).kubeconfig : join(root, ADMIN_KUBECONFIG);
  if (!(await isThere(file))) return await work(undefined);
  const client = createClusterClient({ file }, { userAgent: "gardenadm" });
  try {
    return await work(client);
  } finally {
    await Promise.race([client.close(), delay(200)]);
  }
}

interface Asking {
  readonly isWorker: boolean;
  readonly timeouts: Timeouts;
  readonly deadline: AbortSignal;
}

async function askServer(root: string, client: KubeClient | undefined, { isWorker, timeouts, deadline }: Asking) {
  const backup = async (reached: KubeClient | undefined) => {
    const found = await (isWorker ? readBackupOfWorker(reached) : readBackup(root, reached, deadline));
    return found === undefined ? {} : { backup: found };
  };
  const none = async (reason: string) => ({
    ...{ apiServer: { ready: false, reason: `not reachable: ${reason}` }, nodes: [] },
    ...(await backup(undefined)),
  });
  if (client === undefined) return await none("this machine has no kubeconfig yet");
  try {
    const nodes = await within(timeouts.server, listNodes(client));
    const [shoot, ofBackup] = await Promise.all([
      within(timeouts.server, readShootStatus(client)).catch(() => undefined),
      backup(client),
    ]);
    return { apiServer: { ready: true }, nodes: nodes.map(nodeReport), ...(shoot && shootReport(shoot)), ...ofBackup };
  } catch (error) {
    return await none(reasonOf(error));
  }
}

/** A worker sees itself only. */
async function listNodes(client: KubeClient): Promise<readonly Node[]> {
  try {
    return await client.list(Node);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const own = await client.read(Node, { name: hostname() });
    return own === undefined ? [] : [own];
  }
}

function nodeReport({ metadata: { name }, status }: Node): NodeReport {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const reason = ready?.message;
  return { name, ready: ready?.status === "True", ...(reason === undefined ? {} : { reason }) };
}

/** What its Shoot says, as far as it says anything. */
function shootReport({
  conditions = [],
  lastOperation,
  lastErrors = [],
}: ShootStatus): Pick<MachineReport, "conditions" | "operation"> {
  return {
    conditions: conditions.map(({ type, status, message }) => ({ type, status, message })),
    ...(lastOperation && {
      operation: {
        ...lastOperation,
        errors: lastErrors.map(({ taskID: step = "", description }) => ({ step, description })),
      },
    }),
  };
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(milliseconds, undefined, { signal: over.signal }).then(() => {
    throw new Error(`no answer within ${milliseconds / 1000} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => {});
    work.catch(() => {});
    over.abort();
  }
}

/** The innermost cause says it: fetch itself only says that it failed. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? reasonOf(cause) : message;
}
