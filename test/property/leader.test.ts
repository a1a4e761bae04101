import fc from "fast-check";
import { expect, test } from "vitest";
import { formatLeader, parseLeader } from "../../src/dns/index.ts";

test("a leadership record says the same after it was written and read, in whatever order its values come", () => {
  const names = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,30}[a-z0-9])?$/);
  fc.assert(
    fc.property(
      names,
      fc.integer({ min: 1, max: 1e12 }),
      fc.option(fc.uuid(), { nil: undefined }),
      fc.boolean(),
      (seed, epoch, shoot, turned) => {
        const leader = { seed, epoch, ...(shoot !== undefined && { shoot }) };
        const values = formatLeader(leader);
        expect(parseLeader(turned ? values.reverse() : values)).toEqual(leader);
      },
    ),
  );
});
