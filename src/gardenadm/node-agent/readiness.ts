import { request as plainRequest } from "node:http";
import { request as tlsRequest } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { STATIC_POD_HASH_ANNOTATION } from "../../api/annotations.ts";
import type { Run } from "../../node-agent/commands.ts";
import { containerdPods } from "../../node-agent/containerd-pods.ts";
import type { Following } from "../../node-agent/perform.ts";
import { staticPodsRunning } from "../../node-agent/static-pods.ts";
import type { ManifestPod } from "./manifests.ts";
import { tellNews } from "../../tell-news.ts";

/** In ms, as long as a kubelet waits for an answer. */
const LONGEST_ANSWER = 5_000;

/**
 * Returns once all of these static pods of a node run with their manifests' hashes, and say that they are ready. Where it is
 * stopped before, it throws what was missing at last.
 */
export async function podsReady(
  pods: readonly ManifestPod[],
  { node, ctr }: { readonly node: string; readonly ctr: Run },
  following: Following,
): Promise<void> {
  if (pods.length === 0) return;
  const read = async () => await containerdPods(ctr, STATIC_POD_HASH_ANNOTATION, following.signal);
  await staticPodsRunning({ nodeName: node, expected: pods, read }, following);
  for (const { name, readyAt } of pods) for (const url of readyAt) await answers(name, url, following);
}

async function answers(pod: string, url: string, { signal, tell = () => {} }: Following): Promise<void> {
  const tellMissing = tellNews(tell);
  for (;;) {
    const fault = await faultAt(url);
    if (fault === undefined) return;
    const missing = `static pod ${pod} is not ready: ${url} ${fault}`;
    tellMissing(missing);
    if (signal?.aborted === true) throw new Error(missing, { cause: signal.reason });
    await delay(1_000, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  }
}

/** As kubelets do, it does not look at the certificate of a server on its own machine. */
async function faultAt(url: string): Promise<string | undefined> {
  const send = url.startsWith("https:") ? tlsRequest : plainRequest;
  const options = { rejectUnauthorized: false, agent: false, timeout: LONGEST_ANSWER } as const;
  return await new Promise((resolve) => {
    const sent = send(url, options, (answer) => {
      answer.resume();
      const { statusCode = 0 } = answer;
      resolve(statusCode >= 200 && statusCode < 400 ? undefined : `answers with status ${statusCode}`);
    });
    sent.on("timeout", () => sent.destroy(new Error(`does not answer within ${LONGEST_ANSWER / 1000} s`)));
    sent.on("error", (error) => resolve(error.message));
    sent.end();
  });
}
