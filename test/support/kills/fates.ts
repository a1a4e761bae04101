import type { Fate, MortalName } from "./lab.ts";
import type { Doom, Life, Phase } from "./life.ts";
import type { Write } from "./trap.ts";

/** What lives there are to be, so that a process dies before each write of an undisturbed one; and after each object that it makes. */
export function fatesOf(life: Life, of: MortalName): readonly Doom["fates"][] {
  const fates = { made: fatesAt(life.made.writes[of], of), deleted: fatesAt(life.deleted.writes[of], of) };
  const count = Math.max(fates.made.length, fates.deleted.length);
  return Array.from({ length: count }, (_, index) => pick(fates, index));
}

/** The writes themselves, each once: fewer than its fates, of which some do not come, as a process that died says several things at once. */
export const distinctWrites = (life: Life, of: MortalName): ReadonlySet<Write> =>
  new Set([...life.made.writes[of], ...life.deleted.writes[of]]);

function fatesAt(writes: readonly Write[], of: MortalName): readonly Fate[] {
  const counts = new Map<Write, number>();
  return writes.flatMap((write) => {
    const occurrence = (counts.get(write) ?? 0) + 1;
    counts.set(write, occurrence);
    const before: Fate = { of, write, occurrence, moment: "before" };
    return write.startsWith("POST ") ? [before, { ...before, moment: "after" }] : [before];
  });
}

/** With every fourth death of ours, the manager dies, too. */
function pick(fates: Readonly<Record<Phase, readonly Fate[]>>, index: number): Doom["fates"] {
  const [made, deleted] = [fates.made[index], fates.deleted[index]];
  const both = index % 4 === 3;
  return { ...(made && { made: { ...made, both } }), ...(deleted && { deleted: { ...deleted, both } }) };
}
