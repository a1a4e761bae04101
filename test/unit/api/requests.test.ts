import { expect, it } from "vitest";
import { unanswered } from "../../../src/api/requests.ts";

it.each([
  ["retry", ["retry"], undefined],
  ["reconcile;retry", ["reconcile", "retry"], undefined],
  ["reconcile;retry", ["retry"], "reconcile"],
  ["rotate-ca-start", ["reconcile", "retry"], "rotate-ca-start"],
  ["rotate-ca-start;reconcile", ["reconcile", "retry"], "rotate-ca-start"],
])("of %s, once %j is answered, %s is left", (request, answered, left) => {
  expect(unanswered(request, answered)).toBe(left);
});
