import { randomInt } from "node:crypto";
import { canonicalName, isWithin } from "./domain.ts";
import { network, type Transports } from "./transport.ts";
import {
  decodeResponse,
  encodeQuestion,
  recordTypes,
  type Question,
  type Resource,
  type Response,
} from "./wire/message.ts";
import { readSigned, signMessage, type TsigKey } from "./wire/tsig.ts";

/** Asks one server one question. Throws when there is no answer that can be believed, and says why. */
export type Ask = (server: string, question: Question) => Promise<Answer>;

/** What a server answers; no records when it says that there are none. */
export interface Answer {
  /** The records of the type that was asked for. */
  readonly records: readonly Resource[];
  /** The name of the zone that holds the name, where the server says so. */
  readonly zone: string | undefined;
}

/** How questions are signed and sent. */
export interface AskOptions {
  /** Signs questions to the zone's own servers, whose answers then have to be signed, too. */
  readonly key?: (() => Promise<TsigKey>) | undefined;
  /** The network, unless a test brings another. */
  readonly transports?: Transports | undefined;
}

/**
 * A question that is not recursive is answered from the server's own data or not at all: without RD, and an answer
 * without AA is none. A recursive one goes to a resolver, and is never signed.
 */
export function createAsk({ key, transports = network }: AskOptions = {}): Ask {
  return async (server, question) => {
    const what = `${question.type} ${question.name}`;
    try {
      const used = question.recursive ? undefined : await key?.();
      const { message, read } = prepare(question, used);
      const first = await transports.udp(server, message, read);
      return judge(question, first.truncated ? await transports.tcp(server, message, read) : first);
    } catch (error) {
      throw new Error(`cannot ask ${server} for ${what}: ${reasonOf(error)}`, { cause: error });
    }
  };
}

/** The question's message, and what reads the response to exactly that. */
function prepare(question: Question, key: TsigKey | undefined) {
  const id = randomInt(0x1_0000);
  const plain = encodeQuestion(id, question);
  const signed = key && signMessage(plain, key, secondsNow());
  const read = (packet: Buffer): Response => {
    const response = key && signed ? readSigned(packet, key, signed.mac, secondsNow()) : decodeResponse(packet);
    const { name, type } = response.question;
    const isOurs = response.id === id && name === canonicalName(question.name) && type === recordTypes[question.type];
    if (!isOurs) throw new Error("the answer is to another question");
    return response;
  };
  return { message: signed?.message ?? plain, read };
}

function judge({ name, type, recursive }: Question, response: Response): Answer {
  if (response.truncated) throw new Error("its answer is cut off");
  if (response.code !== NO_ERROR && response.code !== NO_NAME)
    throw new Error(`it answers ${codes[response.code] ?? `code ${response.code}`}`);
  if (!recursive && !response.authoritative)
    throw new Error(
      "it does not answer from its own data (no AA): it is no server of the zone, or a cache stands before it",
    );
  const isAsked = (record: Resource) =>
    record.type === recordTypes[type] && (recursive || record.name === canonicalName(name));
  return {
    records: response.code === NO_NAME ? [] : response.answers.filter(isAsked),
    zone: [...response.answers, ...response.authority].find((record) => isZoneOf(record, canonicalName(name)))?.name,
  };
}

const isZoneOf = ({ type, name: zone }: Resource, name: string): boolean =>
  type === recordTypes.SOA && isWithin(name, zone);

const NO_ERROR = 0;
const NO_NAME = 3;
const codes: Readonly<Record<number, string>> = {
  1: "FORMERR",
  2: "SERVFAIL",
  4: "NOTIMP",
  5: "REFUSED",
  9: "NOTAUTH",
};

const secondsNow = (): number => Math.floor(Date.now() / 1000);

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
