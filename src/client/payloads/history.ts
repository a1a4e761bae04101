import type { DataConverter, Payload } from "@temporalio/common";
import proto from "@temporalio/proto";
import { isEncrypted } from "./codec.ts";
import { decodePayloads } from "./converter.ts";
import { fromJson } from "./json.ts";

/**
 * A history in Temporal's JSON with every payload in the clear, wherever it is in an event. Throws where one is encrypted and
 * the key is not at hand.
 */
export async function decodeHistory<T>(history: T, { payloadCodecs: codecs = [] }: DataConverter): Promise<T> {
  const decode = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return await Promise.all(value.map(decode));
    if (typeof value !== "object" || value === null) return value;
    const payload = payloadIn(value);
    if (payload !== undefined) return await decodePayload(payload);
    const fields = await Promise.all(Object.entries(value).map(async ([key, inner]) => [key, await decode(inner)]));
    return Object.fromEntries(fields as [string, unknown][]);
  };
  const decodePayload = async (payload: Payload): Promise<unknown> => {
    if (codecs.length === 0)
      throw new Error("this history is encrypted: name the file of its keys in PERENNIAL_PAYLOAD_KEYS_FILE");
    const [decoded] = await decodePayloads([payload], { payloadCodecs: codecs });
    return decoded && Message.toObject(Message.fromObject(decoded), { bytes: String });
  };
  return (await decode(history)) as T;
}

const { Payload: Message } = proto.temporal.api.common.v1;

/** An encrypted payload as JSON has it: bytes are base64. */
function payloadIn(value: object): Payload | undefined {
  const { metadata, data } = value as { metadata?: unknown; data?: unknown };
  if (typeof metadata !== "object" || metadata === null || typeof data !== "string") return undefined;
  if (!Object.values(metadata).every((text) => typeof text === "string")) return undefined;
  const payload = fromJson({ metadata: metadata as Record<string, string>, data });
  return isEncrypted(payload) ? payload : undefined;
}
