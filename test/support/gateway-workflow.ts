import { condition, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";

/** Does three things in a seed: one that heartbeats, one that fails, one that is completed from outside. */
export async function useSeed(queue: string): Promise<string> {
  const options = { taskQueue: queue, startToCloseTimeout: "60s", retry: { maximumAttempts: 1 } } as const;
  const { work, fail } = proxyActivities<Activities>({ ...options, heartbeatTimeout: "10s" });
  const { wait } = proxyActivities<Activities>({ ...options, activityId: "wait" });
  const done = await work();
  const failed = await fail().then(
    () => "done",
    (error: unknown) => String((error as Error).cause),
  );
  await wait();
  return `${done}, ${failed}`;
}

/** Waits for one activity of a queue, which a test answers. */
export async function waitForSeed(queue: string): Promise<string> {
  const { wait } = proxyActivities<Activities>({ taskQueue: queue, startToCloseTimeout: "60s", activityId: "wait" });
  return await wait();
}

/** The same with one try. */
export async function waitOnce(queue: string): Promise<string> {
  const options = { taskQueue: queue, startToCloseTimeout: "60s", retry: { maximumAttempts: 1 } } as const;
  return await proxyActivities<Activities>(options).wait();
}

/** Runs until it is signalled. */
export async function runOn(): Promise<void> {
  let ended = false;
  setHandler(defineSignal("end"), () => void (ended = true));
  await condition(() => ended);
}

/** What the workflows of this file ask of a seed. */
export interface Activities {
  work(): Promise<string>;
  fail(): Promise<void>;
  wait(): Promise<string>;
}
