import { etcdHealthUrl, type EtcdRole } from "../../components/index.ts";
import type { StepScope } from "../../in-process/run.ts";
import { until } from "../steps/until.ts";

/** Waits until the kubelet of this machine is healthy. */
export async function kubeletAnswers(scope: StepScope): Promise<void> {
  await serverAnswers("http://127.0.0.1:10248/healthz", "the kubelet", scope);
}

/** Waits until the etcd of this role of this machine is ready. */
export async function etcdAnswers(role: EtcdRole, scope: StepScope): Promise<void> {
  await serverAnswers(etcdHealthUrl(role), `etcd-${role}`, scope);
}

/** Waits until an HTTP server of this machine answers with 200. */
async function serverAnswers(url: string, what: string, scope: StepScope): Promise<void> {
  await until(`${what} is not ready`, scope, async (signal) => (await fetch(url, { signal })).ok);
}
