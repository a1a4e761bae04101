import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { flagsOf, frugal } from "../src/local/process/own-processes.ts";
import type { Spending } from "./cluster-api-process.ts";
import { isWatch, since } from "./counting-client.ts";

/** Our process `cluster-api`, for a bench. */
export interface OwnClusterApi {
  spending(): Promise<Spending>;
  /** The same after so many garbage collections that V8 has dropped the code that does not run any more. */
  settled(): Promise<Spending>;
  /** Resolves when it has asked and written nothing for so many ms, watches and its Lease apart. */
  quiet(time: number): Promise<void>;
  /** Resolves when it has asked so many endpoints, as it does with all of them when it has started. */
  probed(endpoints: number): Promise<void>;
  /** Ends it, and gives its Lease back. */
  stop(): Promise<void>;
}

/** Starts it; where it takes over, Clusters that have an endpoint and no object get one. */
export async function startOwnClusterApi(kubeconfigFile: string, takesOver: boolean): Promise<OwnClusterApi> {
  const child = fork(
    fileURLToPath(new URL("cluster-api-process.ts", import.meta.url)),
    [kubeconfigFile, String(takesOver)],
    {
      execArgv: [...process.execArgv, "--expose-gc", ...frugal.flags, ...(flagsOf["cluster-api"] ?? [])],
      env: { ...process.env, ...frugal.env },
    },
  );
  const ended = once(child, "exit").then(() => {
    throw new Error("process cluster-api has ended");
  });
  await Promise.race([once(child, "message"), ended]);
  ended.catch(() => {}); // by now it ends because it is told to
  const spending = async (): Promise<Spending> => {
    const answer = once(child, "message");
    child.send("spending");
    const [found] = (await answer) as [Spending];
    return found;
  };
  return {
    spending,
    async settled() {
      for (let count = 1; count < COLLECTIONS; count++) await spending();
      return await spending();
    },
    async quiet(time) {
      for (const deadline = Date.now() + LONGEST; Date.now() < deadline;) {
        const before = (await spending()).requests;
        await sleep(time);
        const more = since(before, (await spending()).requests);
        if (Object.keys(more).every(goesOn)) return;
      }
      throw new Error(`process cluster-api is not quiet after ${LONGEST / 1_000} s`);
    },
    async probed(endpoints) {
      for (const deadline = Date.now() + LONGEST; Date.now() < deadline; await sleep(500))
        if ((await spending()).probes >= endpoints) return;
      throw new Error(`process cluster-api has not asked ${endpoints} endpoints after ${LONGEST / 1_000} s`);
    },
    async stop() {
      const exited = once(child, "exit");
      child.send("stop");
      await exited;
    },
  };
}

const COLLECTIONS = 10;

/** In ms. */
const LONGEST = 900_000;

/** Whether such requests are of a watch, or of the Lease by which the process leads. */
export const goesOn = (sort: string): boolean => isWatch(sort) || sort.endsWith(" Lease");
