import { readFileSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { credentials, experimental, Metadata, type CallCredentials, type ChannelCredentials } from "@grpc/grpc-js";

/** How a process proves to Temporal who it is, and knows that it is Temporal: the files of its configuration. */
export interface TemporalFiles {
  /** The authorities of the server's certificate, in PEM; those of the system where only a key of the API is given. */
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The name in the server's certificate, where it is another than that of its address. */
  readonly serverName?: string | undefined;
  readonly apiKeyFile?: string | undefined;
}

/** The same as the SDK's native connection takes it, with the files' content of now. */
export interface ReadFiles {
  readonly tls?: {
    readonly serverNameOverride?: string;
    readonly serverRootCACertificate?: Buffer;
    readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
  };
  readonly apiKey?: string;
}

/** How often a process looks whether its certificates have been renewed, in ms. */
export const FOLLOW_PERIOD = 30_000;

/** Throws a sentence that names the file that cannot be read, or the variable that has to be set with another. */
export async function checkFiles(files: TemporalFiles): Promise<void> {
  const { caFile: ca, certFile: cert, keyFile: key, apiKeyFile: apiKey } = files;
  if ((cert === undefined) !== (key === undefined))
    throw new Error("PERENNIAL_TEMPORAL_CERT_FILE and PERENNIAL_TEMPORAL_KEY_FILE are set together");
  if (cert !== undefined && ca === undefined)
    throw new Error("a client certificate for Temporal needs PERENNIAL_TEMPORAL_CA_FILE");
  for (const file of [ca, cert, key, apiKey]) {
    if (file === undefined) continue;
    await access(file).catch((cause: unknown) => {
      throw new Error(`cannot read ${file}, which proves to Temporal who this process is`, { cause });
    });
  }
}

/** The content of the files. */
export async function readFiles(files: TemporalFiles): Promise<ReadFiles> {
  await checkFiles(files);
  const { caFile: ca, certFile: cert, keyFile: key } = files;
  const { apiKeyFile: apiKey, serverName: name } = files;
  const tls = {
    ...(name === undefined ? {} : { serverNameOverride: name }),
    ...(ca === undefined ? {} : { serverRootCACertificate: await readFile(ca) }),
    ...(cert === undefined || key === undefined
      ? {}
      : { clientCertPair: { crt: await readFile(cert), key: await readFile(key) } }),
  };
  return {
    ...(isSecure(files) ? { tls } : {}),
    ...(apiKey === undefined ? {} : { apiKey: readApiKey(apiKey) }),
  };
}

/** gRPC's own form, which follows the files: a renewed certificate is shown by the next connection. */
export function channelCredentials(files: TemporalFiles): {
  readonly credentials: ChannelCredentials;
  readonly channelArgs: Readonly<Record<string, string>>;
} {
  const { serverName: name, apiKeyFile } = files;
  const transport = transportOf(files);
  return {
    credentials: apiKeyFile === undefined ? transport : transport.compose(bearer(apiKeyFile)),
    channelArgs: name === undefined ? {} : { "grpc.ssl_target_name_override": name, "grpc.default_authority": name },
  };
}

function transportOf(files: TemporalFiles): ChannelCredentials {
  const { caFile, certFile, keyFile } = files;
  if (!isSecure(files)) return credentials.createInsecure();
  if (caFile === undefined) return credentials.createSsl();
  const provider = new experimental.FileWatcherCertificateProvider({
    caCertificateFile: caFile,
    certificateFile: certFile,
    privateKeyFile: keyFile,
    refreshIntervalMs: FOLLOW_PERIOD,
  });
  const own = certFile === undefined ? null : provider;
  return experimental.createCertificateProviderChannelCredentials(provider, own, {});
}

/** Reads the key for each call, so that a key that was replaced is found. */
function bearer(file: string): CallCredentials {
  return credentials.createFromMetadataGenerator((_, callback) => {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${readApiKey(file)}`);
    callback(null, metadata);
  });
}

const isSecure = ({ caFile: ca, apiKeyFile: apiKey }: TemporalFiles): boolean =>
  ca !== undefined || apiKey !== undefined;

const readApiKey = (file: string): string => readFileSync(file, "utf8").trim();
