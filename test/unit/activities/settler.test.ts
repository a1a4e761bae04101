import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { judge } from "../../../src/activities/waits/judgement.ts";
import { createSettler, type Completer } from "../../../src/activities/waits/settler.ts";
import type { KubeObject } from "../../../src/api/schema/meta.ts";
import { createLogger } from "../../../src/log.ts";

const log = createLogger({ name: "test", level: "silent" });
const namespace = "shoot--dev--one";

it("tells Temporal of many settled waits a few at a time, as a worker finds them that starts again, and of each in the end", async () => {
  const told: string[] = [];
  let [telling, most] = [0, 0];
  const completer: Completer = {
    async complete({ runId }) {
      most = Math.max(most, (telling += 1));
      await turn();
      telling -= 1;
      told.push(runId);
      return true;
    },
    fail: async () => true,
  };
  const settler = createSettler({ client, completer, latest: (object) => object, judge, read: registrationOf, log });

  for (let index = 0; index < 500; index += 1) settler.look(service(index), "added");
  while (told.length < 500) await turn();

  expect(most).toBe(20);
  expect(new Set(told).size).toBe(500);
  settler.stop();
});

const client = { list: async () => [] };

const service = (index: number): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Service", metadata: { name: `run-${index}`, namespace, uid: `${index}` } },
  status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
});

const registrationOf = ({ apiVersion, kind, metadata: { name } }: KubeObject) => ({
  waiter: { workflowId: "shoot/garden-dev/one/uid/reconcile", runId: name, activityId: "apiServerService/wait" },
  target: { apiVersion, kind, name, namespace, until: "addressed", severeAfter: 0, deadline: 0 } as const,
  since: Date.now(),
  of: 1,
});
