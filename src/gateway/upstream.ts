import { Client, Metadata, type ChannelCredentials, type ServiceError } from "@grpc/grpc-js";

/** A call as it goes on to the frontend; `deadline` and `cancelled` are its caller's. */
export interface UpstreamCall {
  readonly path: string;
  readonly request: Uint8Array;
  readonly metadata?: Metadata;
  readonly deadline?: Date | number;
  readonly cancelled?: AbortSignal;
}

/** Temporal's frontend, in bytes. */
export interface Upstream {
  /** The answer; throws gRPC's `ServiceError`. */
  call(call: UpstreamCall): Promise<Uint8Array>;
  close(): void;
}

/** Where the frontend is, and as whom the gateway speaks to it. */
export interface UpstreamOptions {
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly channelArgs?: Readonly<Record<string, string | number>>;
}

/** Connects on the first call, and again after each loss. */
export function createUpstream({ address, credentials, channelArgs }: UpstreamOptions): Upstream {
  const client = new Client(address, credentials, {
    "grpc.max_receive_message_length": LARGEST_ANSWER,
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 15_000,
    ...channelArgs,
  });
  return {
    async call({ path, request, metadata = new Metadata(), deadline = Infinity, cancelled }) {
      return await new Promise((resolve, reject) => {
        const answer = (error: ServiceError | null, bytes?: Uint8Array) =>
          error === null ? resolve(bytes ?? new Uint8Array()) : reject(error);
        const call = client.makeUnaryRequest(path, asBytes, asBytes, request, metadata, { deadline }, answer);
        const cancel = () => call.cancel();
        if (cancelled?.aborted) cancel();
        else cancelled?.addEventListener("abort", cancel, { once: true });
      });
    },
    close: () => client.close(),
  };
}

/** As much as the SDK accepts; histories come in pages of 4 MB at most. */
const LARGEST_ANSWER = 128 * 1024 * 1024;

const asBytes = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
