import type { Payload } from "@temporalio/common";

/** Payloads as Temporal's codec protocol writes them: bytes are base64. */
export interface JsonPayloads {
  readonly payloads?: readonly JsonPayload[];
}

interface JsonPayload {
  readonly metadata?: Readonly<Record<string, string>>;
  readonly data?: string;
}

/** A payload from JSON. */
export const fromJson = ({ metadata = {}, data = "" }: JsonPayload): Payload => ({
  metadata: Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, Buffer.from(text, "base64")])),
  data: Buffer.from(data, "base64"),
});

/** A payload as JSON. */
export const toJson = ({ metadata, data }: Payload): JsonPayload => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([key, bytes]) => [key, base64(bytes)])),
  data: base64(data ?? new Uint8Array()),
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
