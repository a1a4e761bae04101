import { lengthOf } from "./crafted-request.ts";

/** What is changed of an element of DER, or of its bytes. */
export const derEdits = [
  "tag",
  "repeat",
  "drop",
  "swap",
  "append",
  "flip",
  "insert",
  "lengthen",
  "indefinite",
  "byte",
  "cut",
] as const;

/** A change: which element or byte it is of, counted around, and a byte that it takes. */
export interface DerEdit {
  readonly kind: (typeof derEdits)[number];
  readonly at: number;
  readonly byte: number;
}

interface Tree {
  tag: number;
  content: Buffer | Tree[];
  length?: "lengthen" | "indefinite";
}

/** Changes DER in one place; the lengths of what is around it follow, unless the change is of bytes. */
export function editDer(der: Buffer, { kind, at, byte }: DerEdit): Buffer {
  const place = at % Math.max(1, der.length);
  if (kind === "cut") return der.subarray(0, place);
  if (kind === "byte") return Buffer.concat([der.subarray(0, place), Buffer.from([byte]), der.subarray(place + 1)]);
  const roots = treesOf(der);
  if (roots === undefined) return der;
  const all = siblingsIn(roots);
  const [siblings, index] = all[at % all.length] ?? [roots, 0];
  editTree(siblings, index, kind, byte);
  return Buffer.concat(roots.map(bytesOf));
}

function editTree(siblings: Tree[], index: number, kind: DerEdit["kind"], byte: number): void {
  const tree = siblings[index];
  if (tree === undefined) return;
  const { content } = tree;
  if (kind === "tag") tree.tag = byte;
  if (kind === "repeat") siblings.splice(index, 0, tree);
  if (kind === "drop") siblings.splice(index, 1);
  if (kind === "swap") siblings.splice(index, 2, ...siblings.slice(index, index + 2).toReversed());
  if (kind === "lengthen" || kind === "indefinite") tree.length = kind;
  if (kind === "append") tree.content = Buffer.concat([contentOf(tree), Buffer.from([0x05, 0x00])]);
  if (Buffer.isBuffer(content) && content.length > 0) editLeaf(tree, content, kind, byte);
}

function editLeaf(tree: Tree, content: Buffer, kind: DerEdit["kind"], byte: number): void {
  const place = byte % content.length;
  const [before, after] = [content.subarray(0, place), content.subarray(place)];
  if (kind === "flip") tree.content = Buffer.from(content.with(place, byte));
  if (kind === "insert") tree.content = Buffer.concat([before, Buffer.from([byte]), after]);
}

/** All elements, each by its siblings and its place among them. */
const siblingsIn = (trees: Tree[]): [Tree[], number][] =>
  trees.flatMap(({ content }, index) => [
    [trees, index] as [Tree[], number],
    ...(Buffer.isBuffer(content) ? [] : siblingsIn(content)),
  ]);

/** Elements, with those in them, as far as they are in short DER; octet strings may have some, too. */
function treesOf(bytes: Buffer): Tree[] | undefined {
  const trees: Tree[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const [tag = 0, first = 0xff] = rest;
    const size = first < 0x80 ? 0 : first - 0x80;
    if (size > 2 || rest.length < 2 + size) return undefined;
    const length = size === 0 ? first : rest.readUIntBE(2, size);
    const content = rest.subarray(2 + size, 2 + size + length);
    if (content.length < length) return undefined;
    const inner = (tag & 0x20) !== 0 || tag === 0x04 ? treesOf(content) : undefined;
    trees.push({ tag, content: inner ?? content });
    rest = rest.subarray(2 + size + length);
  }
  return trees;
}

const contentOf = ({ content }: Tree): Buffer =>
  Buffer.isBuffer(content) ? content : Buffer.concat(content.map(bytesOf));

function bytesOf(tree: Tree): Buffer {
  const content = contentOf(tree);
  if (tree.length === "indefinite") return Buffer.concat([Buffer.from([tree.tag, 0x80]), content, Buffer.alloc(2)]);
  const [first = 0, ...more] = lengthOf(content.length);
  const length =
    tree.length === undefined
      ? [first, ...more]
      : [first < 0x80 ? 0x81 : first + 1, ...(first < 0x80 ? [first] : [0, ...more])];
  return Buffer.concat([Buffer.from([tree.tag, ...length]), content]);
}
