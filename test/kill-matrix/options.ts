import { parseArgs } from "node:util";
import { flowNames, ownParts, type Part } from "./blow.ts";
import type { Choice } from "./blows.ts";
import type { Order } from "./shard.ts";

/** What the command was asked for. */
export interface Options extends Choice {
  /** How many labs stand side by side. */
  readonly labs: number;
  readonly order: Omit<Order, "blows">;
}

/** Reads the command line; throws a sentence for a word that it doesn't know. */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      steps: { type: "string", default: "" },
      flows: { type: "string", default: flowNames.join() },
      parts: { type: "string" },
      away: { type: "string", default: "" },
      seconds: { type: "string", default: "60" },
      sample: { type: "string" },
      share: { type: "string", default: "1/1" },
      seed: { type: "string", default: "1" },
      shoots: { type: "string", default: "1" },
      crossing: { type: "boolean", default: false },
      lease: { type: "string" },
      labs: { type: "string" },
      evidence: { type: "string", default: "" },
    },
  });
  const away = listOf(values.away, "--away", Object.keys(servers) as ServerName[]);
  const killed = listOf(values.parts ?? (away.length > 0 ? "" : "garden,source,destination"), "--parts", ownParts);
  const shoots = numberOf(values.shoots, "--shoots");
  const sample = values.sample ?? (shoots > 1 ? "3" : undefined);
  const lease = values.lease ?? (shoots > 1 ? "5" : "1");
  return {
    flows: listOf(values.flows, "--flows", flowNames),
    steps: listOf(values.steps, "--steps"),
    parts: [...killed, ...away.map((name): Part => servers[name])],
    away: numberOf(values.seconds, "--seconds") * 1000,
    share: shareOf(values.share),
    seed: numberOf(values.seed, "--seed"),
    ...(sample === undefined ? {} : { sample: numberOf(sample, "--sample") }),
    labs: numberOf(values.labs ?? (shoots > 1 ? "1" : "3"), "--labs"),
    order: { leaseSeconds: numberOf(lease, "--lease"), shoots, crossing: values.crossing, evidence: values.evidence },
  };
}

/** Servers by what an operator calls them; `source` and `destination` are the API servers of the seeds. */
const servers = {
  dns: "dns",
  "dns-primary": "dns-primary",
  temporal: "temporal",
  garden: "garden-api",
  source: "source-api",
  destination: "destination-api",
} as const satisfies Record<string, Part>;

type ServerName = keyof typeof servers;

function listOf<T extends string>(text: string, option: string, known?: readonly T[]): T[] {
  const words = text.split(",").filter((word) => word !== "");
  const unknown = words.filter((word) => known !== undefined && !known.includes(word as T));
  if (unknown.length > 0)
    throw new Error(`${option} knows no ${unknown.join(", ")}: choose of ${(known ?? []).join(", ")}`);
  return words as T[];
}

/** `2/3` is the second of three. */
function shareOf(text: string): Choice["share"] {
  const [which = 0, of = 0] = text.split("/").map(Number);
  if (!(which >= 1 && which <= of)) throw new Error(`--share is ${text}: give two whole numbers, such as 2/3`);
  return { which, of };
}

function numberOf(text: string, option: string): number {
  const number = Number(text);
  if (text === "" || !Number.isInteger(number) || number < 0)
    throw new Error(`${option} is ${text}: give a whole number`);
  return number;
}
