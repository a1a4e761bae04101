import { canonicalName } from "../domain.ts";

/** A name as it stands in a message, and where what follows it begins. */
export interface ReadName {
  /** In lower case, without the last dot; the root is the empty string. */
  readonly name: string;
  readonly end: number;
}

/** The longest name, in bytes with its lengths (RFC 1035, 2.3.4). */
const LONGEST = 255;

/** The name in wire form, in lower case and uncompressed. Throws for what no name is. */
export function encodeName(name: string): Buffer {
  const labels = canonicalName(name).split(".");
  if (labels.length === 1 && labels[0] === "") return Buffer.from([0]);
  const parts = labels.map((label) => {
    if (!/^[\x21-\x5b\x5d-\x7e]{1,63}$/.test(label)) throw new Error(`${JSON.stringify(name)} is no DNS name`);
    return Buffer.from([label.length, ...Buffer.from(label, "latin1")]);
  });
  const encoded = Buffer.concat([...parts, Buffer.from([0])]);
  if (encoded.length > LONGEST) throw new Error(`${JSON.stringify(name)} is too long for a DNS name`);
  return encoded;
}

/**
 * Reads a name that may end with a pointer to an earlier one (RFC 1035, 4.1.4). A pointer has to lead further back than
 * all before it, so no message is read in a circle. Throws for what is cut off, too long or no name.
 */
export function readName(message: Buffer, start: number): ReadName {
  const labels: string[] = [];
  let end: number | undefined;
  let limit = start;
  let length = 1;
  for (let at = start; ;) {
    const size = message.readUInt8(at);
    if (size === 0) return { name: labels.join("."), end: end ?? at + 1 };
    if (size >= 0xc0) {
      const target = message.readUInt16BE(at) & 0x3fff;
      if (target >= limit) throw new Error("a compressed name does not point back");
      end ??= at + 2;
      limit = target;
      at = target;
      continue;
    }
    if (size > 63) throw new Error("a label is of no known kind");
    length += size + 1;
    if (length > LONGEST) throw new Error("a name is too long");
    labels.push(readLabel(message, at + 1, size));
    at += size + 1;
  }
}

/** Bytes that would be taken for something else, such as a dot inside a label, stand as three digits. */
function readLabel(message: Buffer, at: number, size: number): string {
  if (at + size > message.length) throw new Error("a name is cut off");
  const label = message.toString("latin1", at, at + size).toLowerCase();
  if (/^[\w-]+$/.test(label)) return label;
  return label.replaceAll(
    /[^\x21-\x2d\x2f-\x5b\x5d-\x7e]/g,
    (byte) => `\\${String(byte.charCodeAt(0)).padStart(3, "0")}`,
  );
}
