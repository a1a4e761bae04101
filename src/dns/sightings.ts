/** Which servers a zone had a short time ago: processes that ask who leads may still ask them. */
export interface Sightings {
  /** The servers are in the zone's records now, which resolvers may keep for `ttl` ms. */
  see(zone: string, servers: readonly string[], ttl: number): void;
  /** The servers that may still be asked, by all that has been seen. */
  of(zone: string): readonly string[];
}

/**
 * Remembers servers for the time to live of their records and for `memory` ms, as long as those who ask remember them, and
 * a quarter more: the clocks of both may be 10 % off.
 */
export function createSightings(memory: number, now: () => number): Sightings {
  const zones = new Map<string, Map<string, number>>();
  return {
    see(zone, servers, ttl) {
      const known = zones.get(zone) ?? new Map<string, number>();
      zones.set(zone, known);
      for (const server of servers) known.set(server, Math.max(known.get(server) ?? 0, now() + 1.25 * (ttl + memory)));
    },
    of(zone) {
      const known = zones.get(zone) ?? new Map<string, number>();
      for (const [server, until] of known) if (until <= now()) known.delete(server);
      return [...known.keys()];
    },
  };
}
