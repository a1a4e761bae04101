import { excessOf, measureJson, membersOf, type JsonLimits, type JsonSize } from "../json-measure.ts";

/**
 * Measures what the body of an AdmissionReview brings: all but what is stored already, and who manages which field, which no rule
 * reads. A part of the object that is no larger than it was brings nothing. So whatever is stored, before a limit or just within it,
 * can be deleted, annotated and made smaller, and no part grows beyond a limit. Stops where one is passed.
 */
export function measureReview(body: Buffer, most: JsonLimits): JsonSize {
  const whole = measureJson(body, most);
  if (excessOf(whole, most) === undefined || whole.bytes > most.bytes) return whole;
  let [values, depth] = [0, 0];
  for (const part of newParts(body)) {
    const size = measureJson(part, most);
    values += size.values;
    depth = Math.max(depth, size.depth);
    if (values > most.values || depth > most.depth) break;
  }
  return { bytes: body.length, values, depth };
}

function* newParts(body: Buffer): Generator<Buffer> {
  for (const [name, value] of membersOf(body)) {
    if (name === "request") yield* newPartsOfRequest(value);
    else yield value;
  }
}

function* newPartsOfRequest(request: Buffer): Generator<Buffer> {
  const old = oldMembers([...membersOf(request)].findLast(([name]) => name === "oldObject")?.[1]);
  for (const [name, value] of membersOf(request)) {
    if (name === "object") yield* newMembers(value, old);
    else if (name !== "oldObject") yield value;
  }
}

function* newMembers(object: Buffer, old: Members): Generator<Buffer> {
  for (const [name, value] of membersOf(object)) {
    if (name === "metadata") yield* newMetadata(value, oldMembers(old.get(name)));
    else if (isLarger(value, old.get(name))) yield value;
  }
}

function* newMetadata(metadata: Buffer, old: Members): Generator<Buffer> {
  for (const [name, value] of membersOf(metadata))
    if (name !== "managedFields" && isLarger(value, old.get(name))) yield value;
}

function isLarger(part: Buffer, old: Buffer | undefined): boolean {
  if (old === undefined) return true;
  if (part.equals(old)) return false;
  const [after, before] = [measureJson(part), measureJson(old)];
  return after.values > before.values || after.depth > before.depth;
}

type Members = ReadonlyMap<string, Buffer>;

/** No kind has as many fields; what is beyond counts as new. */
function oldMembers(object: Buffer | undefined): Members {
  const members = new Map<string, Buffer>();
  for (const [name, value] of object === undefined ? [] : membersOf(object)) {
    members.set(name, value);
    if (members.size === 1_000) break;
  }
  return members;
}
