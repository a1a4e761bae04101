import { parseAllDocuments, parseDocument, YAMLParseError, type Document } from "yaml";
import { AmbiguousYaml, kubernetesYaml, refuseAmbiguous, refuseAmbiguousText } from "./yaml.ts";

/**
 * Parses JSON. The error names what was parsed and quotes nothing of it, as JSON.parse's own does: what Perennial parses
 * may hold credentials, and errors reach logs, histories and the status of Shoots.
 */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(`${what} is not JSON`);
  }
}

/** As `parseJson`, with the text of each number in its place: what has 64 bits, such as an id of etcd, loses none. */
export function parseJsonExactly(text: string, what: string): unknown {
  const exactly = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === "number" ? (context?.source ?? String(value)) : value;
  try {
    return JSON.parse(text, exactly);
  } catch {
    throw new SyntaxError(`${what} is not JSON`);
  }
}

/**
 * The certificates of a bundle in PEM, each alone; what is between them is left out, and so is a block with anything but base64 in it,
 * as readers differ on it.
 */
export const certificatesIn = (bundle: string): string[] =>
  [...bundle.matchAll(certificate)].flatMap(([pem, body = ""]) =>
    body.replaceAll(/\s/g, "").length % 4 === 0 ? [pem] : [],
  );

const certificate =
  /(?<![^\n])-----BEGIN CERTIFICATE-----\r?\n((?:[A-Za-z0-9+/]+\r?\n)*[A-Za-z0-9+/]{2,}={0,2}\r?\n)-----END CERTIFICATE-----(?=\r?(?:\n|$))/g;

/**
 * Parses YAML as Kubernetes does. The error says where it stands and quotes nothing, as that of the parser does. Text that programs in Go
 * read differently is refused: see {@link refuseAmbiguous}.
 */
export function parseYaml(text: string, what: string): unknown {
  return withoutQuotes(text, what, () => valueOf(parseDocument(text, kubernetesYaml)));
}

/** The documents of a YAML stream, as `parseYaml` reads each; an empty one is null. */
export function parseYamlDocuments(text: string, what: string): unknown[] {
  return withoutQuotes(text, what, () => parseAllDocuments(text, kubernetesYaml).map(valueOf));
}

function valueOf(document: Document.Parsed): unknown {
  const [error] = document.errors;
  if (error) throw error;
  refuseAmbiguous(document);
  return document.toJS() as unknown;
}

function withoutQuotes<T>(text: string, what: string, read: () => T): T {
  try {
    refuseAmbiguousText(text);
    return read();
  } catch (error) {
    const start = error instanceof YAMLParseError ? error.linePos?.[0] : placeIn(text, error);
    const fault = error instanceof AmbiguousYaml ? error.message : "is not YAML";
    // eslint-disable-next-line preserve-caught-error -- the cause quotes the text
    throw new SyntaxError(
      `${what} ${fault}${start === undefined ? "" : `: see line ${start.line}, column ${start.col}`}`,
    );
  }
}

function placeIn(text: string, error: unknown): { readonly line: number; readonly col: number } | undefined {
  if (!(error instanceof AmbiguousYaml) || error.at === undefined) return undefined;
  const lines = text.slice(0, error.at).split("\n");
  return { line: lines.length, col: (lines.at(-1) ?? "").length + 1 };
}
