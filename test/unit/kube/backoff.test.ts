import { expect, test } from "vitest";
import { backoffDelay, createBackoff } from "../../../src/kube/backoff.ts";
import { KubeError } from "../../../src/kube/errors.ts";

const range = { first: 100, most: 5_000 };

test("a delay is never shorter than the server asked for", () => {
  const error = new KubeError("busy", { status: 429, reason: "", retryable: true, retryAfter: 20 });
  expect(backoffDelay(0, range, error)).toBe(20_000);
  expect(backoffDelay(0, range, new Error("other"))).toBeLessThanOrEqual(125);
});

test("a wait ends early when it is aborted", async () => {
  const backoff = createBackoff({ first: 60_000, most: 60_000 });
  await backoff.wait(AbortSignal.timeout(10));
});
