import { parse, parseAllDocuments, YAMLParseError } from "yaml";

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

/** The certificates of a bundle in PEM, each alone; what is between them is left out. */
export const certificatesIn = (bundle: string): string[] =>
  bundle.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];

/** Parses YAML 1.1, as Kubernetes does. The error says where it stands and quotes nothing, as that of the parser does. */
export function parseYaml(text: string, what: string): unknown {
  return withoutQuotes(what, () => parse(text, yaml) as unknown);
}

/** The documents of a YAML stream, as `parseYaml` reads each; an empty one is null. */
export function parseYamlDocuments(text: string, what: string): unknown[] {
  return withoutQuotes(what, () =>
    parseAllDocuments(text, yaml).map((document) => {
      const [error] = document.errors;
      if (error) throw error;
      return document.toJS() as unknown;
    }),
  );
}

const yaml = { version: "1.1", logLevel: "error" } as const;

function withoutQuotes<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const start = error instanceof YAMLParseError ? error.linePos?.[0] : undefined;
    // eslint-disable-next-line preserve-caught-error -- the cause quotes the text
    throw new SyntaxError(
      `${what} is not YAML${start === undefined ? "" : `: see line ${start.line}, column ${start.col}`}`,
    );
  }
}
