/** Which seed is in charge of a Shoot, and the number of its turn: it grows with each change, so that A → B → A is seen. */
export interface Leader {
  readonly seed: string;
  readonly epoch: number;
}

/** The values of the TXT record. Both stand in one record set, because a server changes a set as a whole. */
export function formatLeader({ seed, epoch }: Leader): string[] {
  return [`Seed=${seed}`, `Epoch=${epoch}`];
}

/** The leader that the values of a TXT record name; undefined unless there is exactly one seed and one epoch. */
export function parseLeader(values: readonly string[]): Leader | undefined {
  const [seed, ...otherSeeds] = valuesOf(values, "Seed=");
  const [epoch, ...otherEpochs] = valuesOf(values, "Epoch=");
  if (seed === undefined || epoch === undefined || otherSeeds.length + otherEpochs.length > 0) return undefined;
  return seed !== "" && /^[1-9]\d{0,14}$/.test(epoch) ? { seed, epoch: Number(epoch) } : undefined;
}

/** Whether both are the same turn of the same seed. */
export function isLeader(one: Leader | undefined, other: Leader): boolean {
  return one?.seed === other.seed && one.epoch === other.epoch;
}

function valuesOf(values: readonly string[], key: string): string[] {
  return values.filter((value) => value.startsWith(key)).map((value) => value.slice(key.length));
}
