import {
  CANCEL_MIGRATION_ANNOTATION,
  CONFIRM_DELETION_ANNOTATION,
  FORCE_DELETION_ANNOTATION,
  FORCE_TAKEOVER_ANNOTATION,
  OPERATION_ANNOTATION,
} from "../api/annotations.ts";
import { excessOf, measureJson, membersOf, type JsonLimits, type JsonSize } from "../json-measure.ts";

/**
 * Measures what the body of an AdmissionReview brings: all but what is stored already, and who manages which field, which no rule
 * reads. A part of the object that is no larger than it was brings nothing. So whatever is stored, before a limit or just within it,
 * can be deleted and made smaller, takes each of {@link requests}, and no part grows beyond a limit but for them. Stops where one is
 * passed.
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
    if (name !== "managedFields" && isLarger(value, old.get(name), name === "annotations" ? requests : none))
      yield value;
}

/** Annotations by which users ask for an operation, or approve it: next to others that are as many as may be, they do not count. */
const requests: ReadonlySet<string> = new Set([
  CONFIRM_DELETION_ANNOTATION,
  FORCE_DELETION_ANNOTATION,
  OPERATION_ANNOTATION,
  CANCEL_MIGRATION_ANNOTATION,
  FORCE_TAKEOVER_ANNOTATION,
]);

const none: ReadonlySet<string> = new Set();

function isLarger(part: Buffer, old: Buffer | undefined, uncounted = none): boolean {
  if (old === undefined) return true;
  if (part.equals(old)) return false;
  const [after, before] = [measureJson(part), measureJson(old)];
  const growth = after.values - membersIn(part, uncounted) - (before.values - membersIn(old, uncounted));
  return growth > 0 || after.depth > before.depth;
}

/** Returns how many members of the object have one of these names; one that is there twice counts once. */
function membersIn(object: Buffer, names: ReadonlySet<string>): number {
  if (names.size === 0) return 0;
  return new Set([...membersOf(object)].map(([name]) => name).filter((name) => names.has(name))).size;
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
