import { status } from "@grpc/grpc-js";
import { omitUndefined } from "../omit-undefined.ts";
import { partOf, type Fields } from "./message-part.ts";
import { excessOfMessage, type MessageSize } from "./message-size.ts";
import { typeOf } from "./messages.ts";
import { Refusal } from "./refusal.ts";

/** A call that a seed may make: one that goes on to the frontend, or one that the gateway answers itself. */
export type Permit = Onward | { readonly answered: Uint8Array };

/** What the frontend is asked, and what becomes of its answer. */
export interface Onward {
  /** As the method that was called, where it is missing. */
  readonly path?: string;
  readonly request: Uint8Array;
  readonly answer?: (bytes: Uint8Array) => Uint8Array;
}

/** The class of a message. */
export interface Message<T> {
  decode(bytes: Uint8Array): T;
  encode(message: T): { finish(): Uint8Array };
}

/**
 * What a message of a seed may have at most: a hundred times what a seed's worker sends. Two bytes of a message become an object in
 * the gateway, and where they are passed on, one in the garden's worker for each time that the flow is replayed.
 */
const LARGEST: MessageSize = { bytes: 256 * 1024, fields: 1_000, depth: 40 };

/** Decodes the message of a seed. Throws `Refusal` where it is larger than those of seeds are, or is not a message. */
export function read<T>(message: Message<T>, bytes: Uint8Array): T {
  const excess = excessOf(message, bytes);
  if (excess !== undefined) throw new Refusal(status.INVALID_ARGUMENT, `the request ${excess}`);
  return attempt(() => message.decode(bytes));
}

/** The limit that the message passes; undefined where it passes none. Throws `Refusal` where it is not a message. */
export const excessOf = (message: object, bytes: Uint8Array): string | undefined =>
  attempt(() => excessOfMessage(typeOf(message), bytes, LARGEST));

/** Decodes these fields of the message, however large the others are. */
export const readPart = <T>(message: Message<T>, bytes: Uint8Array, fields: Fields): T =>
  read(
    message,
    attempt(() => partOf(typeOf(message), bytes, fields)),
  );

/** The permit for a message as it was judged. */
export const write = <T>(message: Message<T>, content: T): Onward => ({ request: message.encode(content).finish() });

/** Those fields that were sent. */
export function pick<T extends object, Field extends keyof T>(message: T, ...fields: readonly Field[]) {
  return omitUndefined(Object.fromEntries(fields.map((field) => [field, message[field]])) as Pick<T, Field>);
}

/**
 * The message as it is. Throws `Refusal` where one of these texts is longer than an id of Temporal: it keeps those of polls, of
 * workers that end and of workflows that are asked for, counts them, and does not measure them.
 */
export function bounded<T extends object>(message: T, ...fields: readonly (keyof T & string)[]): T {
  for (const field of fields) {
    const text: unknown = message[field];
    const length = typeof text === "string" ? Buffer.byteLength(text) : 0;
    if (length > LONGEST)
      throw new Refusal(status.INVALID_ARGUMENT, `${field} has ${length} bytes and may have ${LONGEST}`);
  }
  return message;
}

/** In bytes: `limit.maxIDLength` of deploy/temporal. */
const LONGEST = 255;

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch {
    throw new Refusal(status.INVALID_ARGUMENT, "the request is not a message of this method");
  }
}
