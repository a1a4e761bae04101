import { describe, expect, it } from "vitest";
import { epochOf, nextOperation } from "../../../src/activities/shoot/move-operation.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { moveOf, neededSource, type Move } from "../../../src/api/placement/move.ts";

type Status = NonNullable<Shoot["status"]>;

/** What is said of a Shoot: where it is, the old Seed that its move still needs, and its next operation. */
interface Answers {
  readonly is: string;
  readonly needs?: string;
  readonly next?: string;
}

/** One letter for each set of answers that there is. */
const legend: Record<string, Answers> = {
  ".": { is: "" },
  l: { is: "leaving moving", needs: "seed-1", next: "Migrate seed-1 to seed-2" },
  L: { is: "leaving moving", needs: "seed-1", next: "Migrate seed-1 to seed-2, takeover" },
  a: { is: "moving arriving", needs: "seed-0", next: "Restore seed-0 to seed-1, since" },
  A: { is: "moving arriving", needs: "seed-0", next: "Migrate seed-0 to seed-1, takeover" },
  t: { is: "moving arriving", next: "Restore seed-0 to seed-1, takeover, since" },
  r: { is: "moving arriving returning", next: "Restore seed-1 to seed-1" },
  R: { is: "moving arriving returning", next: "Restore seed-1 to seed-1, next epoch" },
  // Here the predicates said that the Shoot moves, and the flow that it does not: it is settled.
  w: { is: "leaving moving", needs: "seed-1" },
  x: { is: "moving arriving returning" },
  y: { is: "moving arriving", needs: "seed-0" },
  z: { is: "moving arriving" },
};

const settled = ["none", "Create Processing", "Create Succeeded", "Reconcile Error", "Restore Succeeded"];
const underWay = ["Migrate Processing", "Migrate Error", "Migrate Succeeded", "Restore Processing", "Restore Failed"];
const deleting = ["Delete Processing", "Delete Succeeded"];

/** Each group of four is a leadership record of `records`; in each, nothing is asked, then what `requests` say. */
const table: [string | undefined, string | undefined, string[], string][] = [
  [undefined, "seed-1", [...settled, ...deleting], "...."],
  [undefined, "seed-1", underWay, "xxxx"],
  [undefined, undefined, [...settled, ...deleting], "...."],
  [undefined, undefined, underWay, "xxxx"],
  ["seed-1", "seed-1", [...settled, ...deleting], ".... .... .... .... .... .... .... .... .... .... .... .... ...."],
  ["seed-1", "seed-1", underWay, "rrrr rrrr rrrr rrrr rrrr RRRR RRRR aaAA tttt aaAA tttt RRAR RRRR"],
  ["seed-1", "seed-2", [...settled, ...underWay], "llLL llLL llLL llLL llLL llLL llLL llLL llLL llLL llLL llLL llLL"],
  ["seed-1", "seed-2", deleting, "wwww wwww wwww wwww wwww wwww wwww wwww wwww wwww wwww wwww wwww"],
  ["seed-1", undefined, [...settled, ...deleting], ".... .... .... .... .... .... .... .... .... .... .... .... ...."],
  ["seed-1", undefined, underWay, "xxxx xxxx xxxx xxxx xxxx xxxx xxxx yyyy zzzz yyyy zzzz xxyx xxxx"],
];

const since = "2026-01-01T12:00:00Z";
const leadership = { record: "local.dev.leadership.example.com", seed: "seed-1", epoch: 4, leaseSeconds: 60 };

/** No record; then those of a first and of a second leader, which leaves or not, and was taken over or not. */
const records: (Status["leadership"] | undefined)[] = [
  undefined,
  ...[{}, { previousSeed: "seed-0", since }].flatMap((before) =>
    [{}, { leaving: 3 }, { leaving: 4 }].flatMap((leaving) =>
      [{}, { takeover: true }].map((takeover) => ({ ...leadership, ...before, ...leaving, ...takeover })),
    ),
  ),
];

const cancel = { "perennial.dev/cancel-migration": "true" };
const approval = { "perennial.dev/force-takeover": JSON.stringify({ reason: "fire" }) };
const requests: Record<string, string>[] = [{}, cancel, approval, { ...cancel, ...approval }];

describe("where a Shoot is", () => {
  const rows = table.flatMap(([leader, wanted, operations, letters]) =>
    operations.map((operation) => [leader ?? "none", wanted ?? "none", operation, letters] as const),
  );
  it.each(rows)(
    "is told for leader %s, spec.seedName %s and last operation %s",
    (leader, wanted, operation, letters) => {
      const known = leader === "none" ? [undefined] : records;
      const told = known.map((record) =>
        requests.map((annotations) => letterOf(shootWith({ leader, wanted, operation, record, annotations }))).join(""),
      );
      expect(told.join(" ")).toBe(letters.replaceAll(/[wxyz]/g, "."));
    },
  );
});

interface Given {
  readonly leader: string;
  readonly wanted: string;
  readonly operation: string;
  readonly record: Status["leadership"] | undefined;
  readonly annotations: Record<string, string>;
}

function shootWith({ leader, wanted, operation, record, annotations }: Given): Shoot {
  const [type, state] = operation.split(" ");
  const status = {
    ...(leader !== "none" && { seedName: leader }),
    ...(record && { leadership: record }),
    ...(operation !== "none" && { lastOperation: { type, state } }),
  };
  const spec = wanted === "none" ? {} : { seedName: wanted };
  return { metadata: { name: "local", namespace: "garden-dev", annotations }, spec, status } as unknown as Shoot;
}

function letterOf(shoot: Shoot): string | undefined {
  const answers = JSON.stringify(answersFor(shoot));
  return Object.keys(legend).find((letter) => JSON.stringify(legend[letter]) === answers) ?? answers;
}

/** What the predicates said in each place; which are gone, but stay a vocabulary in which to compare. */
const saying: Record<Move["is"], string> = {
  settled: "",
  leaving: "leaving moving",
  arriving: "moving arriving",
  returning: "moving arriving returning",
};

function answersFor(shoot: Shoot): Answers {
  const move = moveOf(shoot);
  const needs = neededSource(move);
  const next = nextOf(shoot, move);
  return { is: saying[move.is], ...(needs && { needs }), ...(next && { next }) };
}

function nextOf(shoot: Shoot, move: Move): string | undefined {
  const next = nextOperation(move);
  if (next === undefined) return undefined;
  const { source, destination, takeover, since } = next.migration;
  const later = epochOf(shoot, move) > (shoot.status?.leadership?.epoch ?? 1);
  const rest = [takeover && "takeover", since && "since", later && "next epoch"];
  return [`${next.operation} ${source} to ${destination}`, ...rest].filter(Boolean).join(", ");
}
