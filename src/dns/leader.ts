/** Which seed is in charge of a Shoot, and the number of its turn: it grows with each change, so that A → B → A is seen. */
export interface Leader {
  readonly seed: string;
  readonly epoch: number;
  /** The Shoot's uid: it tells this Shoot from an earlier one of its name. A record without it says nothing of that. */
  readonly shoot?: string;
}

/** The values of the TXT record. All stand in one record set, because a server changes a set as a whole. */
export function formatLeader({ seed, epoch, shoot }: Leader): string[] {
  return [`Seed=${seed}`, `Epoch=${epoch}`, ...(shoot === undefined ? [] : [`Shoot=${shoot}`])];
}

/** The leader that the values of a TXT record name; undefined unless there is exactly one seed and one epoch, and at most one Shoot. */
export function parseLeader(values: readonly string[]): Leader | undefined {
  const [seed, ...otherSeeds] = valuesOf(values, "Seed=");
  const [epoch, ...otherEpochs] = valuesOf(values, "Epoch=");
  const [shoot, ...otherShoots] = valuesOf(values, "Shoot=");
  if (seed === undefined || epoch === undefined) return undefined;
  if (otherSeeds.length + otherEpochs.length + otherShoots.length > 0) return undefined;
  if (seed === "" || shoot === "" || !/^[1-9]\d{0,14}$/.test(epoch)) return undefined;
  return { seed, epoch: Number(epoch), ...(shoot !== undefined && { shoot }) };
}

/** Whether both are the same turn of the same seed, and not those of two Shoots. */
export function isLeader(one: Leader | undefined, other: Leader): boolean {
  return one?.seed === other.seed && one.epoch === other.epoch && !areTwoShoots(one, other);
}

/** Whether these lead two Shoots, one of which has the name of the other now. */
export function areTwoShoots(one: Leader, other: Leader): boolean {
  return one.shoot !== undefined && other.shoot !== undefined && one.shoot !== other.shoot;
}

function valuesOf(values: readonly string[], key: string): string[] {
  return values.filter((value) => value.startsWith(key)).map((value) => value.slice(key.length));
}
