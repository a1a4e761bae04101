import { fileURLToPath } from "node:url";
import type { DataConverter, Payload } from "@temporalio/common";
import { readKeyFile } from "../../key-file.ts";
import { createCodec } from "./codec.ts";

/** How payloads go to Temporal and come from it: encrypted with the keys of the file, or in the clear where there is none. */
export async function readConverter(payloadKeysFile: string | undefined): Promise<DataConverter> {
  if (payloadKeysFile === undefined) return {};
  return { failureConverterPath, payloadCodecs: [createCodec(await readKeyFile(payloadKeysFile))] };
}

/** The payloads in the clear. */
export async function decodePayloads(
  payloads: readonly Payload[],
  { payloadCodecs = [] }: Pick<DataConverter, "payloadCodecs">,
): Promise<Payload[]> {
  let decoded = [...payloads];
  for (const codec of payloadCodecs.toReversed()) decoded = await codec.decode(decoded);
  return decoded;
}

/** We run as TypeScript from the source tree, and as JavaScript once published. */
const extension = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/** Where workers and the bundler of workflows find it. */
const failureConverterPath = fileURLToPath(new URL(`./failure-converter${extension}`, import.meta.url));
