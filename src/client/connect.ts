import { Client, Connection } from "@temporalio/client";
import { channelCredentials, checkFiles, type TemporalFiles } from "./credentials.ts";
import { readConverter } from "./payloads/converter.ts";

/** Where the Temporal server is, as `host:port`, the namespace our workflows live in, and what secures the way there. */
export interface TemporalAddress extends TemporalFiles {
  readonly address: string;
  readonly namespace: string;
  /** The file of the keys that encrypt payloads; without it they are in the clear. */
  readonly payloadKeysFile?: string | undefined;
}

/** What a process' configuration says of Temporal. */
export interface TemporalSettings {
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly temporalCaFile?: string | undefined;
  readonly temporalCertFile?: string | undefined;
  readonly temporalKeyFile?: string | undefined;
  readonly temporalServerName?: string | undefined;
  readonly temporalApiKeyFile?: string | undefined;
  readonly payloadKeysFile?: string | undefined;
}

/** The address in a process' configuration. */
export const temporalOf = (config: TemporalSettings): TemporalAddress => ({
  address: config.temporalAddress,
  namespace: config.temporalNamespace,
  caFile: config.temporalCaFile,
  certFile: config.temporalCertFile,
  keyFile: config.temporalKeyFile,
  serverName: config.temporalServerName,
  apiKeyFile: config.temporalApiKeyFile,
  payloadKeysFile: config.payloadKeysFile,
});

/** Connects to Temporal. Throws a sentence that names the address when no server answers there. */
export async function connectTemporal({ address, namespace, ...files }: TemporalAddress): Promise<Client> {
  await checkFiles(files);
  const dataConverter = await readConverter(files.payloadKeysFile);
  try {
    const connection = await Connection.connect({ address, connectTimeout: "10s", ...channelCredentials(files) });
    return new Client({ connection, namespace, dataConverter });
  } catch (cause) {
    throw new Error(`cannot reach Temporal at ${address}`, { cause });
  }
}
