import type { SnapshotRecord, SnapshotRecords } from "../../src/activities/backup/record.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { refOf, type KubeClient } from "../../src/kube/index.ts";

/** Records in memory; the last one counts, as long as its revision is not smaller. */
export function memoryRecords() {
  let latest: SnapshotRecord | undefined;
  const records: SnapshotRecords = {
    record: async (_owner, snapshot) => {
      if (latest === undefined || latest.revision <= snapshot.revision) latest = snapshot;
    },
    latest: async () => latest,
  };
  return records;
}

/** What kubelets and the Jobs' controller would do: a test says how each Job's pod ends. */
export function createJobRunner(client: KubeClient) {
  const logs = new Map<string, string>();
  const finish = async (
    namespace: string,
    name: string,
    type: "Complete" | "Failed",
    { log, end }: { readonly log?: object | string | undefined; readonly end?: ContainerEnd | undefined },
  ) => {
    const job = await client.read(refOf(jobIn(namespace, name)));
    if (job === undefined) throw new Error(`there is no Job ${name}`);
    const pod = `${name}-${(job.metadata.uid ?? "").slice(0, 5)}`;
    if (type === "Complete") await addPod(job, pod, { phase: "Succeeded" });
    if (end !== undefined) await addPod(job, pod, { phase: "Failed", containerStatuses: [statusOfContainer(end)] });
    if (log !== undefined) logs.set(pod, typeof log === "string" ? log : JSON.stringify(log));
    await client.patch(refOf(job), { status: statusOf(type) }, { subresource: "status" });
    return `${pod}.db`;
  };

  const addPod = async (job: KubeObject, name: string, ended: object) => {
    const { namespace = "", uid } = job.metadata;
    const { template } = job["spec"] as { template: { metadata: { labels: object }; spec: object } };
    const labels = { ...template.metadata.labels, "batch.kubernetes.io/controller-uid": uid ?? "" };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name, namespace, labels }, spec: template.spec };
    await client.create<KubeObject>(pod);
    const status = { startTime: "2026-01-01T10:00:00Z", ...ended };
    await client.patch(refOf(pod), { status }, { subresource: "status" });
  };

  return {
    /** The client as it would be if a kubelet answered for its pods' logs. */
    client: { ...client, get: async (path: string) => readLog(path) } satisfies KubeClient,
    /** Ends a Job's pod well, with this log; returns the snapshot's file. */
    succeed: (namespace: string, name: string, log?: object | string) => finish(namespace, name, "Complete", { log }),
    /** Ends a Job badly: its pod is gone, or one container of it has ended like this. */
    fail: (namespace: string, name: string, end?: ContainerEnd) => finish(namespace, name, "Failed", { end }),
    /** Takes a pod's log away, as a node does that is short of space. */
    forgetLogs: () => logs.clear(),
  };

  async function readLog(path: string): Promise<unknown> {
    const pod = /\/pods\/([^/]+)\/log/.exec(path)?.[1];
    if (pod === undefined) return await client.get(path);
    return logs.get(pod) ?? `unable to retrieve container logs for ${pod}`; // as a kubelet says it, with code 200
  }
}

/** How a container has ended. */
export interface ContainerEnd {
  readonly name: string;
  readonly exitCode: number;
  readonly message?: string;
}

const statusOfContainer = ({ name, exitCode, message = "" }: ContainerEnd) => ({
  name,
  image: "i",
  imageID: "i",
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode, message } },
});

const jobIn = (namespace: string, name: string): KubeObject => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { namespace, name },
});

function statusOf(type: "Complete" | "Failed") {
  const time = "2026-01-01T10:00:10Z";
  const condition = (one: string) => ({ type: one, status: "True", lastTransitionTime: time, reason: "Test" });
  const before = type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
  return {
    startTime: "2026-01-01T10:00:00Z",
    conditions: [condition(before), condition(type)],
    ...(type === "Complete" ? { succeeded: 1, completionTime: time } : { failed: 1 }),
  };
}
