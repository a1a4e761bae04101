import { Reader, Type, Writer } from "protobufjs";
import { skipField } from "./message-size.ts";

/** The fields of a message, by name: each whole, or parts of the message in it. */
export interface Fields {
  readonly [name: string]: true | Fields;
}

/**
 * Returns the same message with these fields only. Decodes nothing, so that the content of the others costs nothing. Throws where
 * it is not a message, or has very many fields side by side.
 */
export function partOf(type: Type, bytes: Uint8Array, wanted: Fields): Uint8Array {
  const reader = Reader.create(bytes);
  const parts: Uint8Array[] = [];
  for (let count = 0; reader.pos < bytes.length; count += 1) {
    if (count === MOST_FIELDS) throw new Error(`a message has more than ${MOST_FIELDS} fields`);
    const start = reader.pos;
    const tag = reader.uint32();
    const field = type.fieldsById[tag >>> 3]?.resolve();
    const fields = field && wanted[field.name];
    if (typeof fields === "object" && field?.resolvedType instanceof Type) {
      const part = partOf(field.resolvedType, reader.bytes(), fields);
      parts.push(Writer.create().uint32(tag).bytes(part).finish());
      continue;
    }
    skipField(reader, tag);
    if (fields !== undefined) parts.push(bytes.subarray(start, reader.pos));
  }
  return Buffer.concat(parts);
}

const MOST_FIELDS = 10_000;
