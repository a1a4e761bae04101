import { Reader, Type } from "protobufjs";

/** The size of an encoded message. */
export interface MessageSize {
  readonly bytes: number;
  /** Fields of the message and of all messages in it: everything that a decoder creates a value for. */
  readonly fields: number;
  /** How many messages are within each other at most. */
  readonly depth: number;
}

/**
 * Returns the limit that an encoded message passes, and by how much: `has 70000 bytes and may have 50000`; undefined where it
 * passes none. Does not decode it: two bytes may become an object. Throws where it is not a message.
 */
export function excessOfMessage(type: Type, bytes: Uint8Array, most: MessageSize): string | undefined {
  if (bytes.length > most.bytes) return `has ${bytes.length} bytes and may have ${most.bytes}`;
  const reader = Reader.create(bytes);
  let [fields, deepest] = [0, 0];
  const within = () => fields <= most.fields && deepest <= most.depth;
  const measure = (shape: Shape | undefined, end: number, depth: number) => {
    deepest = Math.max(deepest, depth);
    while (reader.pos < end && within()) {
      const tag = reader.uint32();
      fields += 1;
      const inner = shape?.(tag >>> 3);
      if (inner !== undefined && (tag & 7) === LENGTH_DELIMITED) measure(inner, endOf(reader), depth + 1);
      else skipField(reader, tag);
    }
    if (reader.pos > end) throw new Error("a field ends behind its message");
  };
  measure(shapeOf(type), bytes.length, 1);
  if (within()) return undefined;
  return fields > most.fields
    ? `has more than the ${most.fields} fields that it may have`
    : `is nested more than ${most.depth} levels deep`;
}

/** The shape of the message in the field of this number; undefined where the field has none. */
type Shape = (field: number) => Shape | undefined;

/** An entry of a map is a message whose second field is the value. */
function shapeOf({ fieldsById }: Type): Shape {
  return (id) => {
    const field = fieldsById[id]?.resolve();
    if (field === undefined) return undefined;
    const content = field.resolvedType instanceof Type ? shapeOf(field.resolvedType) : undefined;
    return field.map ? (part) => (part === MAP_VALUE ? content : undefined) : content;
  };
}

/** Where the part ends that begins with its length. */
function endOf(reader: Reader): number {
  const length = reader.uint32();
  return reader.pos + length;
}

/** Skips the content of the field that begins with this tag. Throws for a group, which proto3 does not have and whose skipping takes time. */
export function skipField(reader: Reader, tag: number): void {
  if (!WIRE_TYPES.has(tag & 7)) throw new Error("a field has none of proto3's types");
  reader.skipType(tag & 7);
}

const [VARINT, FIXED_64, LENGTH_DELIMITED, FIXED_32] = [0, 1, 2, 5];
const WIRE_TYPES = new Set([VARINT, FIXED_64, LENGTH_DELIMITED, FIXED_32]);
const MAP_VALUE = 2;
