import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";
import { apiServerCauses } from "./api-server.ts";
import type { ShootChange } from "./change.ts";
import { gateCauses } from "./feature-gates.ts";
import { kubeletCauses } from "./kubelet.ts";
import { purposeCauses } from "./lifecycle.ts";
import { listCauses } from "./lists.ts";
import { poolCauses } from "./pools.ts";
import { roomCauses } from "./room.ts";
import { scheduleCauses } from "./schedules.ts";
import { selfHostedCauses } from "./self-hosted.ts";
import { skewCauses } from "./skew.ts";
import { wordCauses } from "./words.ts";

/** What a Shoot must be like by itself, whatever else there is. */
const rules: readonly ((shoot: Shoot) => Cause[])[] = [
  wordCauses,
  poolCauses,
  selfHostedCauses,
  roomCauses,
  apiServerCauses,
  gateCauses,
  kubeletCauses,
  listCauses,
  scheduleCauses,
  skewCauses,
  purposeCauses,
];

/** What rules have against a Shoot, but for what they had against it before: what was admitted once must not stand against a change of the rest. */
export function ruleCauses({ shoot, old }: Pick<ShootChange, "shoot" | "old">): Cause[] {
  const causesOf = (one: Shoot) => rules.flatMap((rule) => rule(one));
  const before = new Set(old ? causesOf(old).map(textOf) : []);
  return causesOf(shoot).filter((cause) => !before.has(textOf(cause)));
}

const textOf = ({ field, message }: Cause): string => JSON.stringify([field, message]);
