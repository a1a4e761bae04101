import { expect, test } from "vitest";
import { afterFailure } from "../../../src/flow/retry.ts";

const minute = 60_000;
const once = { attempt: 1, elapsed: 0, retryDuration: 10 * minute };

test("a passing failure is tried again after five seconds, and then after twice as long each time, at most ten minutes", () => {
  const delays = [1, 2, 3, 8, 30].map((attempt) =>
    afterFailure({ retryable: true }, { ...once, attempt, retryDuration: Infinity }),
  );
  expect(delays).toEqual([5, 10, 20, 600, 600].map((seconds) => ({ then: "retry", delay: seconds * 1000 })));
});

test("what others are making is looked for sooner", () => {
  expect(afterFailure({ retryable: true, within: 2_000 }, { ...once, attempt: 5 })).toEqual({
    then: "retry",
    delay: 2_000,
  });
});

test("a try that would begin after the time for tries parks, and one that begins at its end does not", () => {
  expect(afterFailure({ retryable: true }, { ...once, elapsed: 10 * minute - 5_000 }).then).toBe("retry");
  expect(afterFailure({ retryable: true }, { ...once, elapsed: 10 * minute - 4_999 }).then).toBe("park");
});

test("a silent one is waited for without end, and what no try can mend parks at once", () => {
  const late = { attempt: 40, elapsed: 60 * minute, retryDuration: minute };
  expect(afterFailure({ retryable: true, silent: "seed-1" }, late).then).toBe("retry");
  expect(afterFailure({ retryable: false, silent: "seed-1" }, once).then).toBe("park");
  expect(afterFailure({ retryable: false }, once).then).toBe("park");
});
