/** The size of a JSON text. */
export interface JsonSize {
  readonly bytes: number;
  /** Numbers, texts, lists, objects: everything that a parser creates a value for. */
  readonly values: number;
  /** How many lists and objects are within each other at most. */
  readonly depth: number;
}

/** What a JSON text may have at most. */
export type JsonLimits = JsonSize;

/**
 * Measures a JSON text without parsing it: a parser takes a hundred times as long for many small values as for one large
 * text of the same size. Stops where a limit is passed. For a text that is not JSON the figures mean nothing.
 */
export function measureJson(text: Uint8Array, most: JsonLimits = unlimited): JsonSize {
  const bytes = text.length;
  let [values, depth, deepest] = [1, 0, 0];
  for (let at = 0; at < bytes && bytes <= most.bytes && values <= most.values && deepest <= most.depth; at += 1) {
    switch (text[at]) {
      case QUOTE:
        at = endOfText(text, at);
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values += 1;
        depth += 1;
        deepest = Math.max(deepest, depth);
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      default: // within a number, a word or white space
    }
  }
  return { bytes, values, depth: deepest };
}

/** The members of the object that a JSON text is: names and values as they are written. What is no object is its own, nameless member. */
export function* membersOf(text: Buffer): Generator<readonly [name: string, value: Buffer], void> {
  if (text[0] !== OPEN_OBJECT) yield ["", text];
  for (let at = text[0] === OPEN_OBJECT ? text.indexOf(QUOTE) : -1; at >= 0;) {
    const nameEnd = endOfText(text, at);
    const colon = text.indexOf(COLON, nameEnd);
    const start = colon < 0 ? nameEnd : colon + 1;
    const end = endOfValue(text, start);
    yield [text.toString("utf8", at + 1, nameEnd), text.subarray(start, end)];
    at = text.indexOf(QUOTE, end + 1);
  }
}

/** Where the value ends that begins at `start`, or where the text does. */
function endOfValue(text: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfText(text, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_OBJECT)) return at;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return text.length;
}

/** The limit that a size passes, and by how much: `has 70000 values and may have 50000`; undefined where it passes none. */
export function excessOf(size: JsonSize, most: JsonLimits): string | undefined {
  if (size.bytes > most.bytes) return `has ${size.bytes} bytes and may have ${most.bytes}`;
  if (size.values > most.values) return `has more than the ${most.values} values that it may have`;
  return size.depth > most.depth ? `is nested more than ${most.depth} levels deep` : undefined;
}

/** Where the text ends that begins at `start`; a quote behind an odd number of backslashes does not end it. */
function endOfText(text: Uint8Array, start: number): number {
  for (let end = text.indexOf(QUOTE, start + 1); end >= 0; end = text.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (text[before] === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

const unlimited: JsonLimits = { bytes: Infinity, values: Infinity, depth: Infinity };

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
