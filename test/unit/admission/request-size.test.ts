import { expect, test } from "vitest";
import { requestLimits } from "../../../src/admission/limits.ts";
import { measureReview } from "../../../src/admission/request-size.ts";
import { excessOf, membersOf } from "../../../src/json-measure.ts";

const many = Array.from({ length: 50 }, () => 1);
const deep = { a: { a: { a: { a: {} } } } };
const small = { metadata: { name: "a", labels: { a: "b" } }, spec: { text: "x" }, status: {} };
const large = { ...small, spec: { many, deep } };
const most = { bytes: 5_000, values: 40, depth: 4 };

const measure = (request: object, around: object = {}, limits = most) =>
  measureReview(Buffer.from(JSON.stringify({ kind: "AdmissionReview", ...around, request })), limits);
const isWithin = ({ values, depth }: { values: number; depth: number }) => values <= most.values && depth <= most.depth;

test("what was stored before counts neither in a deletion nor where it stays as it was", () => {
  expect(isWithin(measure({ oldObject: large }))).toBe(true);
  expect(isWithin(measure({ object: large, oldObject: large }))).toBe(true);
  const labelled = { ...large, metadata: { ...large.metadata, labels: { c: "d" } } };
  expect(isWithin(measure({ object: labelled, oldObject: large }))).toBe(true);
  expect(isWithin(measure({ oldObject: large, object: labelled }))).toBe(true);
  expect(isWithin(measure({ object: small, oldObject: large }))).toBe(true);
});

test("a part that is no larger than it was brings nothing, however large it is", () => {
  const annotated = (count: number, first: object = {}) => ({
    ...small,
    metadata: { annotations: { ...first, ...Object.fromEntries(many.slice(0, count).map((_, n) => [`a${n}`, ""])) } },
  });
  const update = (object: object, oldObject: object) => isWithin(measure({ object, oldObject }));
  expect(update(annotated(49), annotated(50))).toBe(true);
  expect(update(annotated(49, { confirmed: "true" }), annotated(50))).toBe(true);
  expect(update(annotated(50, { confirmed: "true" }), annotated(50))).toBe(false);
  expect(update({ ...small, spec: { many: many.slice(1), deep } }, large)).toBe(true);
  expect(update({ ...small, spec: { many: [deep] } }, { ...small, spec: { many } })).toBe(false); // it is deeper
  const managed = (object: { metadata: object }) => ({
    ...object,
    metadata: { ...object.metadata, managedFields: many },
  });
  expect(update(managed(annotated(49)), annotated(50))).toBe(true);
  expect(update(annotated(50), managed(annotated(49)))).toBe(false);
});

const confirmed = "confirmation.gardener.cloud/deletion";

test("an object with exactly as many values as a request may bring takes a confirmation of its deletion, and grows no further", () => {
  const annotated = (count: number, more: object = {}) => ({
    ...{ metadata: { name: "a", annotations: { ...numbered(count), ...more } }, spec: {} },
  });
  const within = (request: object) => excessOf(measure(request, {}, requestLimits), requestLimits) === undefined;
  let most = requestLimits.values;
  while (!within({ object: annotated(most), oldObject: small })) most -= 1;
  const stored = measure({ object: annotated(most), oldObject: { ...small, spec: {} } }, {}, requestLimits);
  expect(stored.values).toBe(requestLimits.values);
  const update = (object: object, oldObject = annotated(most)) => within({ object, oldObject });
  expect(update(annotated(most, { [confirmed]: "true" }))).toBe(true);
  expect(update(annotated(most, { [confirmed]: "true", "gardener.cloud/operation": "retry" }))).toBe(true);
  expect(update(annotated(most, { other: "true" }))).toBe(false);
  expect(update(annotated(most, { [confirmed]: "true", other: "true" }))).toBe(false);
  const once = annotated(most, { [confirmed]: "true" });
  expect(update(annotated(most, { other: "true" }), once)).toBe(false);
  expect(update(annotated(most, { [confirmed]: ["true", "false"] }))).toBe(false);
  const labelled = (more: object = {}) => ({
    ...small,
    metadata: { name: "a", labels: { ...numbered(most), ...more } },
  });
  expect(within({ object: labelled({ [confirmed]: "true" }), oldObject: labelled() })).toBe(false);
});

test("a spec with exactly as many values as a request may bring stays beside a new annotation", () => {
  const { values } = requestLimits;
  const object = (annotations?: object) => ({
    metadata: { name: "a", annotations },
    spec: { list: Array(values - 8).fill(1) },
  });
  expect(measure({ object: object() }, {}, requestLimits).values).toBe(values);
  const size = measure({ object: object({ any: "b" }), oldObject: object() }, {}, requestLimits);
  expect(excessOf(size, requestLimits)).toBeUndefined();
});

test("a request has at most 3.5 MiB and 100 levels, and may have these", () => {
  const nested = (levels: number) => Buffer.from(`${"[".repeat(levels)}${"]".repeat(levels)}`);
  const long = (bytes: number) => Buffer.from(JSON.stringify("x".repeat(bytes - 2)));
  const excess = (body: Buffer) => excessOf(measureReview(body, requestLimits), requestLimits);
  expect([excess(nested(100)), excess(long(3.5 * 2 ** 20))]).toEqual([undefined, undefined]);
  expect(excess(nested(101))).toContain("more than 100 levels");
  expect(excess(long(3.5 * 2 ** 20 + 1))).toContain("may have 3670016");
});

test("of a member that is there twice the last counts as what was stored, as for a parser", () => {
  const text = JSON.stringify(large);
  const isSmall = (request: string) => isWithin(measureReview(Buffer.from(`{"request":{${request}}}`), most));
  expect(isSmall(`"oldObject":{},"oldObject":${text},"object":${text}`)).toBe(true);
  expect(isSmall(`"oldObject":${text},"oldObject":{},"object":${text}`)).toBe(false);
  const spec = JSON.stringify(large.spec);
  expect(isSmall(`"oldObject":{"spec":${spec},"spec":1},"object":{"spec":${spec}}`)).toBe(false);
});

function numbered(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, ""]));
}

test("who manages which field does not count", () => {
  expect(isWithin(measure({ object: { ...small, metadata: { managedFields: many, name: "a" } } }))).toBe(true);
  expect(isWithin(measure({ object: { ...small, managedFields: many } }))).toBe(false);
});

test.each([
  ["a new object", { object: large }],
  ["a changed part", { object: { ...small, spec: { many: [...many, 2] } }, oldObject: { ...small, spec: { many } } }],
  [
    "a part that grows while another shrinks",
    { object: { ...small, spec: { many: [...many, 2] } }, oldObject: { ...small, spec: { many }, data: { many } } },
  ],
  ["a part that another part was", { object: { ...small, status: large.spec }, oldObject: large }],
  ["depth", { object: { ...small, spec: deep }, oldObject: small }],
  ["metadata", { object: { ...small, metadata: { annotations: many } }, oldObject: small }],
  [
    "changed metadata",
    { object: { metadata: { annotations: [...many, 1] } }, oldObject: { metadata: { annotations: many } } },
  ],
  ["the rest of the request", { userInfo: many, oldObject: large }],
  ["an object that is none", { object: many }],
  ["metadata that are none", { object: { metadata: many } }],
  ["two parts together", { object: { a: many.slice(0, 25), b: many.slice(0, 25) }, oldObject: small }],
])("it counts %s", (_, request) => {
  expect(isWithin(measure(request))).toBe(false);
});

test("what is around a request counts, and all of it in bytes", () => {
  expect(isWithin(measure({ oldObject: large }, { many }))).toBe(false);
  expect(measure({ oldObject: large }).bytes).toBe(
    JSON.stringify({ kind: "AdmissionReview", request: { oldObject: large } }).length,
  );
  expect(isWithin(measureReview(Buffer.from(JSON.stringify(many)), most))).toBe(false);
  expect(measure({ oldObject: large }, {}, { ...most, bytes: 100 }).bytes).toBeGreaterThan(100);
});

test("an object with more parts than any kind has counts as new beyond them", () => {
  const parts = Object.fromEntries(Array.from({ length: 1_050 }, (_, n) => [`k${n}`, n]));
  expect(measure({ object: parts, oldObject: parts }, {}, { ...most, bytes: 50_000 }).values).toBeGreaterThan(
    most.values,
  );
});

test.each([
  ['{"a":1,"b":{"c":[1,{"d":2}]},"e":"}"}', { a: "1", b: '{"c":[1,{"d":2}]}', e: '"}"' }],
  ['{"a\\"b":"x:y,","":[]}', { 'a\\"b': '"x:y,"', "": "[]" }],
  ['{"a":"b"}', { a: '"b"' }],
  ["{}", {}],
  ["[1]", { "": "[1]" }],
  [`{"a"`, { a: '"' }],
  [`{"a`, { a: "" }],
])("the members of %s are as they are written", (text, members) => {
  const found = [...membersOf(Buffer.from(text))].map(([name, value]) => [name, value.toString()] as const);
  expect(Object.fromEntries(found)).toEqual(members);
});
