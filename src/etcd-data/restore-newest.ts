import type { Run } from "../node-agent/commands.ts";
import { isOfTheData } from "./of-the-data.ts";
import type { Exchange, Replaced } from "./replace.ts";
import { restoreData, type Restoration } from "./restore-data.ts";

/** A snapshot on this machine. */
export interface Candidate {
  readonly file: string;
}

/** How one of several snapshots is restored. */
export interface NewestRestoration<C extends Candidate> extends Omit<Restoration, "snapshot" | "foretell"> {
  /** The newest first; the next one is asked for when the one before it is not whole. */
  readonly candidates: AsyncIterable<C>;
  /** As that of a {@link Restoration}, by the snapshot that is about to take the place of the data. */
  foretell?(candidate: C, exchange: Exchange): Promise<void>;
  /** Hears of one that is not whole, before the next one is asked for. */
  skipped(candidate: C, error: Error): void;
}

/**
 * Restores the newest snapshot that is whole, as {@link restoreData} does, and answers with it. Only a snapshot that is damaged is passed
 * over: a disk that is full or fails for a moment is no reason to restore an older one. Throws what the last one failed of, what is not
 * of the data, and what the candidates throw; undefined where there are none.
 */
export async function restoreNewest<C extends Candidate>(
  programs: { readonly etcdutl: Run },
  { candidates, skipped, foretell, ...restoration }: NewestRestoration<C>,
): Promise<{ readonly restored: C; readonly replaced: Replaced } | undefined> {
  let last: Error | undefined;
  for await (const candidate of candidates) {
    try {
      const replaced = await restoreData(programs, {
        ...{ ...restoration, snapshot: candidate.file },
        ...(foretell && { foretell: async (exchange) => await foretell(candidate, exchange) }),
      });
      return { restored: candidate, replaced };
    } catch (error) {
      if (!(error instanceof Error) || !isOfTheData(error.cause)) throw error;
      skipped(candidate, error);
      last = error;
    }
  }
  if (last !== undefined) throw last;
  return undefined;
}
