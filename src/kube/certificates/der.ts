/** One element of DER: its tag, its content, and all of its bytes. */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  readonly whole: Buffer;
}

/** Tags of the elements that a certificate request is made of. */
export const TAGS = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  printable: 0x13,
  sequence: 0x30,
  set: 0x31,
  attributes: 0xa0,
  dnsName: 0x82,
  address: 0x87,
} as const;

/**
 * Splits bytes into DER elements. Lengths are definite and as short as possible, and tags have one byte, so that an element has one
 * encoding only. Throws where the bytes are anything else, or do not end with an element.
 */
export function readElements(bytes: Buffer): Element[] {
  const elements: Element[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const element = readFirst(rest);
    elements.push(element);
    rest = rest.subarray(element.whole.length);
  }
  return elements;
}

function readFirst(bytes: Buffer): Element {
  const [tag = 0, first] = bytes;
  if ((tag & 0x1f) === 0x1f || first === undefined) throw new Error("it is not DER");
  const { length, start } = first < 0x80 ? { length: first, start: 2 } : readLongLength(bytes, first & 0x7f);
  const whole = bytes.subarray(0, start + length);
  if (whole.length < start + length) throw new Error("it is cut off");
  return { tag, content: whole.subarray(start), whole };
}

function readLongLength(bytes: Buffer, size: number): { length: number; start: number } {
  if (size === 0 || size > 4 || bytes.length < 2 + size) throw new Error("it has a length that is not DER");
  const length = bytes.readUIntBE(2, size);
  if (length < 0x80 || length < 2 ** (8 * (size - 1))) throw new Error("it has a length that is not the shortest");
  return { length, start: 2 + size };
}
