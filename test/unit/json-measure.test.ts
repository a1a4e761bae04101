import { expect, test } from "vitest";
import { excessOf, measureJson } from "../../src/json-measure.ts";

test.each([
  ["1", { values: 1, depth: 0 }],
  ['{"a":[1,{"b":"}],"}],"c":"\\\\"}', { values: 6, depth: 3 }],
  ['["\\"",",[{"]', { values: 3, depth: 1 }],
  ['["\\\\",[1,"\\\\\\","]]', { values: 5, depth: 2 }],
  ["[[],[],[]]", { values: 7, depth: 2 }],
  ['{"a":{},"b":{}}', { values: 5, depth: 2 }],
  ["[[[]],[]]", { values: 6, depth: 3 }],
])("%s is measured without being parsed", (text, size) => {
  expect(measureJson(Buffer.from(text))).toEqual({ bytes: Buffer.byteLength(text), ...size });
});

test("a text is measured to its end where it has as much as it may, and no further than to where it passes a limit", () => {
  const text = Buffer.from("[1,[2,[3]],4,5]");
  const size = { bytes: 15, values: 8, depth: 3 };
  expect(measureJson(text, size)).toEqual(size);
  expect(measureJson(text, { ...size, bytes: 14 })).toEqual({ bytes: 15, values: 1, depth: 0 });
  expect(measureJson(text, { ...size, values: 2 })).toEqual({ bytes: 15, values: 3, depth: 1 });
  expect(measureJson(text, { ...size, depth: 1 })).toEqual({ bytes: 15, values: 4, depth: 2 });
});

test("a size passes the limit that it is above, and none that it is at", () => {
  const most = { bytes: 10, values: 20, depth: 30 };
  expect(excessOf(most, most)).toBeUndefined();
  expect(excessOf({ ...most, bytes: 11 }, most)).toBe("has 11 bytes and may have 10");
  expect(excessOf({ ...most, values: 21 }, most)).toBe("has more than the 20 values that it may have");
  expect(excessOf({ ...most, depth: 31 }, most)).toBe("is nested more than 30 levels deep");
});
