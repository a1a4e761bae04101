import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { TemporalAddress } from "../src/client/connect.ts";
import { messages, workflowMethod } from "../src/gateway/messages.ts";
import { seedQueue } from "../src/workflows/contract.ts";
import { rawCaller } from "../test/support/lone-gateway.ts";
import type { Bench, Findings } from "./bench.ts";
import type { Flood } from "./gateway-flood.ts";
import { percentiles } from "./percentiles.ts";
import { residentMemory } from "./resident-memory.ts";

/** What a seed that floods the gateway costs another seed, and the gateway's process. */
export const gateway: Bench = {
  name: "gateway",
  async measure({ short, say }) {
    say("gateway: a seed's poll next to 1,500 of another");
    const polls = await withGateway(({ ask, flood }) => measurePolls(short ? 3 : 50, ask, flood));
    say("gateway: memory under 200 unfinished requests of one seed, and of 20 seeds");
    const [one, many] = [await withGateway(measureMemory(1, short)), await withGateway(measureMemory(20, short))];
    return findings(polls, one, many);
  },
};

const FLOODS = "seed-flood";

interface Ground {
  /** The gateway's process. */
  readonly process: ChildProcess;
  /** Returns the gateway's address with a certificate of this seed. */
  ask(seed: string): Promise<TemporalAddress>;
  /** Resolves when another process has begun to send this as these seeds. */
  flood(seeds: readonly string[], what: Pick<Flood, "kind" | "count">): Promise<void>;
}

/** Starts a gateway in a process of its own, for this work. */
async function withGateway<T>(work: (ground: Ground) => Promise<T>): Promise<T> {
  const gatewayProcess = await start("gateway-process.ts", FLOODS);
  const floods: ChildProcess[] = [];
  const ask = async (seed: string) => (await answerOf(gatewayProcess, seed)) as TemporalAddress;
  try {
    return await work({
      process: gatewayProcess,
      ask,
      async flood(seeds, what) {
        const child = await start("gateway-flood.ts");
        floods.push(child);
        const addresses: TemporalAddress[] = [];
        for (const seed of seeds) addresses.push(await ask(seed));
        await answerOf(child, { ...what, seed: seeds[0], addresses });
      },
    });
  } finally {
    for (const child of floods) child.kill("SIGKILL");
    const ended = once(gatewayProcess, "exit");
    gatewayProcess.disconnect();
    await ended;
  }
}

async function start(file: string, ...args: string[]): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args);
  await once(child, "message");
  return child;
}

async function answerOf(child: ChildProcess, message: object | string): Promise<unknown> {
  const answer = once(child, "message") as Promise<[unknown]>;
  child.send(message);
  return (await answer)[0];
}

async function measurePolls(count: number, ask: Ground["ask"], flood: Ground["flood"]) {
  const caller = rawCaller(await ask("seed-1"));
  const taskQueue = { name: seedQueue("seed-1") };
  const request = messages.PollActivityTaskQueueRequest.encode({ namespace: "default", taskQueue }).finish();
  const poll = async () => {
    const before = performance.now();
    await caller.call({ path: workflowMethod("PollActivityTaskQueue"), request });
    return performance.now() - before;
  };
  const several = async () => {
    const times: number[] = [];
    for (let n = 0; n < count; n += 1) {
      times.push(await poll());
      await sleep(100);
    }
    return { ...percentiles(times), most: Math.round(Math.max(...times)) };
  };
  await poll(); // connects
  const alone = await several();
  await flood([FLOODS], { kind: "polls", count: 1_500 });
  const flooded = await several();
  caller.close();
  return { alone, flooded };
}

/** In MB: before, and the most while 200 requests of so many seeds are unfinished, which end after 15 s. */
const measureMemory =
  (seeds: number, short: boolean) =>
  async ({ process: gatewayProcess, flood }: Ground) => {
    const before = await residentMemory(gatewayProcess);
    const names = Array.from({ length: seeds }, (_, n) => `seed-${n}`);
    await flood(names, { kind: "unfinished requests", count: 200 / seeds });
    let most = before;
    for (const end = Date.now() + (short ? 1_000 : 20_000); Date.now() < end; await sleep(50))
      most = Math.max(most, await residentMemory(gatewayProcess));
    return { before, most };
  };

interface Memory {
  readonly before: number;
  readonly most: number;
}

function findings(polls: Awaited<ReturnType<typeof measurePolls>>, one: Memory, many: Memory): Findings {
  const times = ({ p50, p95, most }: typeof polls.alone) => `${p50} ms p50, ${p95} ms p95, ${most} ms at most`;
  const memory = ({ before, most }: Memory) => `${before} MB before, ${most} MB at most`;
  return {
    figures: { polls, memory: { one, many } },
    tables: [
      {
        title: "The gateway under a flood",
        rows: [
          ["a seed's poll, alone", times(polls.alone)],
          ["a seed's poll, next to 1,500 of another seed", times(polls.flooded)],
          ["memory, 200 unfinished requests of one seed", memory(one)],
          ["memory, 200 unfinished requests of 20 seeds", memory(many)],
        ],
      },
    ],
  };
}
