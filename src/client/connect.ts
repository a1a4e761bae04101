import { Client, Connection } from "@temporalio/client";

/** Where the Temporal server is, as `host:port`, and the namespace our workflows live in. */
export interface TemporalAddress {
  readonly address: string;
  readonly namespace: string;
}

/** Connects to Temporal. Throws a sentence that names the address when no server answers there. */
export async function connectTemporal({ address, namespace }: TemporalAddress): Promise<Client> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: "10s" });
    return new Client({ connection, namespace });
  } catch (cause) {
    throw new Error(`cannot reach Temporal at ${address}`, { cause });
  }
}
