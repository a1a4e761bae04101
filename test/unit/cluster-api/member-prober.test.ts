import { afterEach, expect, test } from "vitest";
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
afterEach(async () => void (await prober?.stop()));

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
