import { ApplicationFailure } from "@temporalio/activity";
import { expect, onTestFinished, test, vi } from "vitest";
import { toFailure } from "../../../src/activities/failure.ts";
import { createController, createKubeClient, KubeError } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { playApiServer } from "../../support/played-api-server.ts";

const log = createLogger({ name: "test", level: "silent" });

/** What a client throws whose API server, or a webhook of users behind it, asks it to come back after so many seconds. */
async function refusedFor(seconds: string, status: number): Promise<unknown> {
  const server = await playApiServer([], (_, response) => {
    response.writeHead(status, { "retry-after": seconds }).end(JSON.stringify({ message: "busy" }));
  });
  const client = createKubeClient({ kubeconfig: server.kubeconfig }, { log });
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return await client.get("/readyz").catch((error: unknown) => error);
}

test.each([429, 503])("who answers %i puts a retry off for a minute at most, not for 68 years", async (status) => {
  const error = await refusedFor("2147483647", status);
  expect(error).toBeInstanceOf(KubeError);
  expect(error).toMatchObject({ status, retryAfter: 60 });
  expect(toFailure(error)).toBeInstanceOf(ApplicationFailure);
  expect(toFailure(error)).toMatchObject({ nextRetryDelay: 60_000 });
});

test("what comes back in a year does not come back at once, though timers hold 25 days", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let runs = 0;
  const controller = createController({
    name: "test",
    log,
    reconcile: async () => {
      runs += 1;
      return { requeueAfter: 365 * 86_400_000 };
    },
  });
  controller.enqueue({ name: "one" });
  controller.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(runs).toBe(1);
  await controller.stop();
});
