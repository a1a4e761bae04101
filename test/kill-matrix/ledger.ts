/** Something that a seed did to what is outside of it. */
export interface Act {
  readonly shoot: string;
  readonly seed: string;
  /** The epoch that the object named when its controller began. */
  readonly epoch: number;
  readonly what: string;
}

/** Writes down who acts, and finds those who must not. */
export interface Ledger {
  /** Runs the work as an act. It is a fault when a later epoch has acted for the Shoot before this one has ended. */
  acting<T>(act: Act, work: () => Promise<T>): Promise<T>;
  /** Notes that something is wrong with the world. */
  fault(shoot: string, text: string): void;
  /** Faults of a Shoot so far, and forgets them. */
  takeFaults(shoot: string): string[];
  /** Acts of a Shoot so far, and forgets them. */
  takeActs(shoot: string): Act[];
}

/** One ledger for all seeds. */
export function createLedger(): Ledger {
  const faults: { shoot: string; text: string }[] = [];
  const acts: Act[] = [];
  const latest = new Map<string, number>();

  const judge = ({ shoot, seed, epoch, what }: Act, when: string) => {
    const known = latest.get(shoot) ?? 0;
    if (epoch < known)
      faults.push({ shoot, text: `${seed} ${when} ${what} in epoch ${epoch}, after epoch ${known} acted` });
    latest.set(shoot, Math.max(known, epoch));
  };
  const take = <T extends { readonly shoot: string }>(list: T[], shoot: string): T[] => {
    const taken = list.filter((one) => one.shoot === shoot);
    list.splice(0, list.length, ...list.filter((one) => one.shoot !== shoot));
    return taken;
  };

  return {
    async acting(act, work) {
      judge(act, "began to");
      acts.push(act);
      try {
        return await work();
      } finally {
        judge(act, "ended to");
      }
    },
    fault: (shoot, text) => void faults.push({ shoot, text }),
    takeFaults: (shoot) => [...new Set(take(faults, shoot).map(({ text }) => text))],
    takeActs: (shoot) => take(acts, shoot),
  };
}
