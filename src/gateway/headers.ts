import type { IncomingHttpHeaders } from "node:http2";
import { Metadata, status } from "@grpc/grpc-js";
import type { Identity } from "./identity.ts";
import { Refusal } from "./refusal.ts";

/** The headers that go on to the frontend: what a caller says of its program. Nothing else does. */
export function passedOn(headers: IncomingHttpHeaders, { kind }: Pick<Identity, "kind">): Metadata {
  const kept = new Metadata();
  for (const name of kind === "garden" ? [...ofPrograms, ...ofTheGarden] : ofPrograms) {
    const value = headers[name];
    if (typeof value === "string") kept.set(name, value);
  }
  return kept;
}

const ofPrograms = ["client-name", "client-version", "supported-server-versions"];

/** The frontend takes a caller of type `operator` before all others. */
const ofTheGarden = ["caller-type", "temporal-namespace"];

/** The deadline that a caller has set, as a time in ms; infinite when it has set none. */
export function deadlineOf({ "grpc-timeout": timeout }: IncomingHttpHeaders): number {
  if (timeout === undefined) return Infinity;
  const [, count, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(String(timeout)) ?? [];
  if (count === undefined)
    throw new Refusal(
      status.INVALID_ARGUMENT,
      "header grpc-timeout is not up to eight digits and a unit of H, M, S, m, u, n",
    );
  return Date.now() + Number(count) * (UNITS[unit] ?? 0);
}

/** In ms. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };
