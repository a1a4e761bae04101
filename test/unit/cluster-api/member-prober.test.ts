import { afterEach, expect, test, vi } from "vitest";
import { createMemberProber, type MemberProber } from "../../../src/cluster-api/endpoint-record/member-prober.ts";
import type { Serving } from "../../../src/cluster-api/endpoint/probe.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const record = { namespace: "fleet", name: "foo" };
const target = (machine: string, host: string) => ({
  ...{ machine, endpoint: { host, port: 6443 } },
  trust: { ca: "CA", server: undefined, serverName: "api.example.com" },
});
const answers: Serving = { type: "Serving", status: "True", reason: "Answers", message: "answers" };
const refuses: Serving = { type: "Serving", status: "False", reason: "ConnectionRefused", message: "refuses" };

let prober: MemberProber | undefined;
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await prober?.stop();
});

function follow(probe: (host: string) => Serving): { readonly told: unknown[] } {
  const told: unknown[] = [];
  prober = createMemberProber({
    onChange: (key) => void told.push(key),
    ...{ log, period: 10, probe: async ({ host }) => probe(host) },
  });
  prober.start();
  prober.follow(record, [target("a", "10.0.0.1")]);
  return { told };
}

test("a single lost answer changes nothing, a second one in a row does, and one answer undoes it", async () => {
  const script = [answers, refuses, answers, refuses, refuses, answers];
  const heard: (string | undefined)[] = [];
  const { told } = follow(() => {
    heard.push(prober?.servingOf(record, "a")?.status);
    return script.shift() ?? answers;
  });
  await eventually(() => heard.length > 6);
  expect(heard.slice(0, 7)).toEqual([undefined, "True", "True", "True", "True", "False", "True"]);
  expect(told.slice(0, 3)).toEqual([record, record, record]);
});

test("what was known of another address says nothing, and who is not followed is not asked", async () => {
  const asked: string[] = [];
  follow((host) => (asked.push(host), host === "10.0.0.1" ? answers : refuses));
  await eventually(() => prober?.servingOf(record, "a")?.status === "True");
  prober?.follow(record, [target("a", "10.0.0.2")]);
  expect(prober?.servingOf(record, "a")).toBeUndefined();
  await eventually(() => prober?.servingOf(record, "a")?.status === "False");
  prober?.follow(record, [target("b", "10.0.0.3")]);
  await eventually(() => asked.includes("10.0.0.3"));
  const count = asked.filter((host) => host === "10.0.0.2").length;
  await eventually(() => asked.filter((host) => host === "10.0.0.3").length > 2);
  expect(asked.filter((host) => host === "10.0.0.2").length - count).toBeLessThanOrEqual(1);
  expect(prober?.servingOf(record, "a")).toBeUndefined();
});

/**
 * How long, in ms of the prober's own clock, an API server counts as serving after its last answer, where that was followed by nothing: no
 * packet comes back. Questions come as late as chance may have it, and so many others are black holes from the beginning.
 */
async function outAfter(others: number, namespace = record.namespace): Promise<number> {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(0.999_999);
  let lastAnswer: number | undefined;
  const silence = async (timeout = 0, signal?: AbortSignal): Promise<Serving> => {
    await new Promise((resolve) => {
      setTimeout(resolve, timeout);
      signal?.addEventListener("abort", resolve);
    });
    return { ...refuses, reason: "Timeout" };
  };
  prober = createMemberProber({
    ...{ log, onChange: () => {} },
    async probe({ host }, _, { timeout, signal } = {}) {
      if (host !== "10.0.0.1" || lastAnswer !== undefined) return await silence(timeout, signal);
      lastAnswer = Date.now();
      return answers;
    },
  });
  prober.start();
  for (let at = 0; at < others; at++) prober.follow({ namespace, name: `hole-${at}` }, [target("a", `10.1.0.${at}`)]);
  prober.follow(record, [target("a", "10.0.0.1")]);
  while (prober.servingOf(record, "a")?.status !== "False" && Date.now() - (lastAnswer ?? Date.now()) < 60_000)
    await vi.advanceTimersByTimeAsync(50);
  return Date.now() - (lastAnswer ?? 0);
}

test("an API server that becomes a black hole is known two seconds before it has to be out, whenever that happens", async () => {
  expect(await outAfter(0)).toBeLessThanOrEqual(8_000);
});

test("two hundred black holes delay no question to another", async () => {
  expect(await outAfter(200)).toBeLessThanOrEqual(8_000);
});

test("nor do thousands of black holes in another namespace", async () => {
  expect(await outAfter(3_000, "crowd")).toBeLessThanOrEqual(8_000);
});

test("an authority is made once for all questions to API servers, however often their record is looked at", async () => {
  const authorities: unknown[] = [];
  prober = createMemberProber({
    onChange() {},
    ...{ log, period: 10 },
    probe: async (_, trust, { authorityOf } = {}) => (authorities.push(authorityOf?.(trust)), answers),
  });
  prober.start();
  const asked = target("a", "10.0.0.1");
  const look = () => prober?.follow(record, [{ ...asked, trust: { ...asked.trust, ca: "" } }]); // those of the system
  look();
  await eventually(() => authorities.length > 2);
  look();
  const before = authorities.length;
  await eventually(() => authorities.length > before + 2);
  expect(authorities[0]).toBeDefined();
  expect(new Set(authorities).size).toBe(1);
});
