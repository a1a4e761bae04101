import { buildGoModule, startLineProgram } from "./go-program.ts";

/** Readers of programs in Go: those of its standard library, of Kubernetes and of its client. */
export type GoReader =
  | "address"
  | "dns"
  | "duration"
  | "kubeconfig"
  | "label"
  | "labelKey"
  | "labelValue"
  | "network"
  | "pem"
  | "quantity"
  | "subdomain"
  | "time"
  | "version"
  | "yaml";

/** Reads texts as programs in Go do; undefined where they refuse one. */
export interface GoReaders {
  read(reader: GoReader, text: string | Uint8Array): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts the program that holds the readers. */
export async function startGoReaders(): Promise<GoReaders> {
  const program = startLineProgram(await buildGoModule("go-readers"));
  return {
    async read(reader, text) {
      const request = JSON.stringify({ reader, text: Buffer.from(text).toString("base64") });
      const { value, error } = (await program.ask(request)) as { readonly value?: unknown; readonly error?: string };
      if (error !== undefined && !error.startsWith("error: ")) throw new Error(error);
      return value;
    },
    close: program.stop,
  };
}
