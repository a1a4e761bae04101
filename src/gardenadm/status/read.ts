import { ADMIN_KUBECONFIG } from "../../api/names.ts";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { readJournal } from "../../in-process/journal.ts";
import { createKubeClient, Node } from "../../kube/index.ts";
import { placesIn } from "../init/places.ts";
import { findCertificates } from "./certificates.ts";
import { lastRunOf, type Answer, type MachineReport, type NodeReport } from "./report.ts";
import { isThere } from "../is-there.ts";

/** In ms: what has not answered by then does not count as answering. */
const LONGEST_ANSWER = 3_000;

/** Looks at the machine whose `/` is this folder. What does not answer is said so, and nothing is waited for. */
export async function readMachine(root: string): Promise<MachineReport> {
  const places = placesIn(root);
  const [kubelet, etcdMain, etcdEvents, api] = await Promise.all([
    ask("http://127.0.0.1:10248/healthz"),
    ask("http://127.0.0.1:2381/readyz"),
    ask("http://127.0.0.1:2384/readyz"),
    askServer(root),
  ]);
  const configDirectory = (await readFile(places.configDirectory, "utf8").catch(() => "")).trim();
  const lastRun = lastRunOf(await readJournal(places.journal));
  return {
    host: hostname(),
    begun: await isThere(places.shootUid),
    imported: await isThere(places.imported),
    ...(configDirectory === "" ? {} : { configDirectory }),
    ...{ kubelet, etcdMain, etcdEvents, ...api },
    certificates: await findCertificates(root),
    ...(lastRun === undefined ? {} : { lastRun }),
  };
}

async function ask(url: string): Promise<Answer> {
  try {
    const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(LONGEST_ANSWER) });
    return ok ? { ready: true } : { ready: false, reason: `answers with status ${status}` };
  } catch (error) {
    return { ready: false, reason: reasonOf(error) };
  }
}

async function askServer(root: string): Promise<{ apiServer: Answer; nodes: NodeReport[] }> {
  const file = join(root, ADMIN_KUBECONFIG);
  if (!(await isThere(file)))
    return { apiServer: { ready: false, reason: `there is no ${ADMIN_KUBECONFIG}` }, nodes: [] };
  const client = createKubeClient({ file }, { userAgent: "gardenadm" });
  try {
    const nodes = await Promise.race([client.list(Node), failAfter(LONGEST_ANSWER)]);
    return { apiServer: { ready: true }, nodes: nodes.map(nodeReport) };
  } catch (error) {
    return { apiServer: { ready: false, reason: reasonOf(error) }, nodes: [] };
  } finally {
    await client.close();
  }
}

function nodeReport({ metadata: { name }, status }: Node): NodeReport {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  const reason = ready?.message;
  return { name, ready: ready?.status === "True", ...(reason === undefined ? {} : { reason }) };
}

async function failAfter(ms: number): Promise<never> {
  return await new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms).unref();
  });
}

/** The innermost cause says it: fetch itself only says that it failed. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? reasonOf(cause) : message;
}
