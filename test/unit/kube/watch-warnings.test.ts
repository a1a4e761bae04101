import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createReflector, KubeError, Node, type KubeClient, type Reflector } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

let broken: boolean;
let time: number;
let told: { readonly level: string; readonly msg: string }[];
let reflector: Reflector<Node>;

beforeEach(() => {
  [broken, time, told] = [false, 0, []];
  vi.spyOn(performance, "now").mockImplementation(() => time);
  reflector = follow();
  reflector.start();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await reflector.stop();
});

/** Follows the Nodes of an API server that is there unless it is broken, with all that is logged of it. */
function follow(): Reflector<Node> {
  const away = () => new KubeError("the API server is away", { status: 0, reason: "", retryable: true });
  const client = {
    server: "https://api.one.test",
    async snapshot() {
      if (broken) throw away();
      return { items: [], resourceVersion: "1" };
    },
    async *watch(_: unknown, { signal }: { readonly signal: AbortSignal }) {
      while (!signal.aborted && !broken) {
        yield { type: "BOOKMARK", object: { metadata: { resourceVersion: "1" } } };
        await sleep(5);
      }
      throw away();
    },
  } as unknown as KubeClient;
  const write = (line: string) => void told.push(JSON.parse(line) as (typeof told)[number]);
  return createReflector(client, Node, { log: createLogger({ name: "test", level: "debug", destination: { write } }) });
}

const interruptions = (level?: string) =>
  told.filter((one) => one.msg === "watch interrupted" && (level === undefined || one.level === level)).length;

/** The API server goes away, and comes back after some have tried it in vain. */
async function breakOff(): Promise<void> {
  const before = interruptions();
  broken = true;
  await eventually(() => interruptions() >= before + 2);
  broken = false;
  await eventually(() => reflector.isCurrent());
}

test("a watch warns once of an outage, and of one that has gaps, and once more after it has stood for a minute", async () => {
  await eventually(() => reflector.isCurrent());
  await breakOff();
  time += 30_000;
  await breakOff();
  expect(interruptions("warn")).toBe(1);
  expect(interruptions("debug")).toBeGreaterThanOrEqual(3);
  time += 61_000;
  await breakOff();
  expect(interruptions("warn")).toBe(2);
});
