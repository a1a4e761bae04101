import {
  MAINTENANCE_OPERATION_ANNOTATION,
  OPERATION_ANNOTATION,
  TASKS_ANNOTATION,
  TUNNEL_ANNOTATION,
} from "../../api/annotations.ts";
import { shootTasks } from "../../api/extensions/tasks.ts";
import type { Shoot } from "../../api/index.ts";
import { operationsIn, shootRequests } from "../../api/requests.ts";
import type { Cause } from "../review.ts";
import { shorten } from "../text.ts";

/**
 * Why the Shoot cannot be asked for this. What no flow acts on must not be accepted: who has asked for a rotation, say, would
 * rely on it. What it was asked for before stays accepted, so that the rest can be changed.
 */
export function requestCauses(shoot: Shoot, old: Shoot | undefined): Cause[] {
  return requests.flatMap(({ annotation, wordsIn, known, remedy }) => {
    const wordsOf = (one: Shoot | undefined): string[] => {
      const value = one?.metadata.annotations?.[annotation];
      return value === undefined ? [] : wordsIn(value);
    };
    const before = new Set(wordsOf(old));
    return [...new Set(wordsOf(shoot))]
      .filter((word) => !known.includes(word) && !before.has(word))
      .slice(0, mostNamed)
      .map((word) => ({
        field: `metadata.annotations[${annotation}]`,
        message: `${shorten(word)} is not supported: ${remedy ?? `choose one of ${known.join(", ")}`}`,
      }));
  });
}

/** A refusal is for people. */
const mostNamed = 10;

interface Request {
  readonly annotation: string;
  readonly wordsIn: (value: string) => string[];
  readonly known: readonly string[];
  /** Where there is nothing to choose from. */
  readonly remedy?: string;
}

const requests: readonly Request[] = [
  { annotation: OPERATION_ANNOTATION, wordsIn: operationsIn, known: shootRequests },
  { annotation: TASKS_ANNOTATION, wordsIn: (value) => value.split(","), known: shootTasks },
  { annotation: TUNNEL_ANNOTATION, wordsIn: (value) => [value], known: ["true", "false"] },
  {
    annotation: MAINTENANCE_OPERATION_ANNOTATION,
    wordsIn: operationsIn,
    known: [],
    remedy: `nothing runs in a maintenance time window; set ${OPERATION_ANNOTATION}`,
  },
];
