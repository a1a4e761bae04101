import type { FaultyProxy } from "../faulty-proxy.ts";

/** A write of a process, as that of any Cluster: method and path, with NAME in place of the Cluster's. */
export type Write = string;

/** At which write about a Cluster a process is to die. */
export interface KillPoint {
  readonly write: Write;
  /** Counted among such writes from now on; 1 is the first. */
  readonly occurrence: number;
  /** Before the API server gets it, or after the API server has answered and before the process knows. */
  readonly moment: "before" | "after";
}

/** What a process writes, seen by the proxy that it writes through. */
export interface Trap {
  /** Notes each write about this Cluster from now on. */
  follow(cluster: string): { readonly writes: readonly Write[]; lastAt(): number };
  /** `spring` runs at that write about this Cluster, once: the write, or its answer, goes no further. The answer calls it off. */
  set(cluster: string, point: KillPoint, spring: () => Promise<void>): () => void;
}

/** Writes besides Leases, of which each is as the one before, reviews, which change nothing, and Events, which nothing waits for. */
const isWrite = (line: string): boolean =>
  /^(POST|PUT|PATCH|DELETE) /.test(line) && !/\/(leases|events|\w+reviews)\b/.test(line);

/** Watches a process's writes. The proxy shows its requests to nothing else from then on. No Cluster's name may be part of another's. */
export function layTrap(proxy: FaultyProxy): Trap {
  const followed: Followed[] = [];
  const planned = new Set<Planned>();
  proxy.watch(async ({ id, line, body, moment }) => {
    if (!isWrite(line)) return true;
    const isAbout = ({ cluster }: { readonly cluster: string }) => line.includes(cluster) || body.includes(cluster);
    if (moment === "asked") {
      for (const one of followed.filter(isAbout)) note(one, line);
      for (const one of [...planned].filter(isAbout)) choose(one, id, line);
    }
    const due = [...planned].find((one) => one.target === id && one.at === moment);
    if (due === undefined) return true;
    planned.delete(due);
    await due.spring();
    return false;
  });
  return {
    follow(cluster) {
      const one: Followed = { cluster, writes: [], lastAt: Date.now() };
      followed.push(one);
      return { writes: one.writes, lastAt: () => one.lastAt };
    },
    set(cluster, { write, occurrence, moment }, spring) {
      const at = moment === "before" ? "asked" : "answered";
      const one: Planned = { cluster, write, at, spring, left: occurrence, target: undefined };
      planned.add(one);
      return () => void planned.delete(one);
    },
  };
}

interface Followed {
  readonly cluster: string;
  readonly writes: Write[];
  lastAt: number;
}

interface Planned {
  readonly cluster: string;
  readonly write: Write;
  readonly at: "asked" | "answered";
  readonly spring: () => Promise<void>;
  left: number;
  target: number | undefined;
}

function note(followed: Followed, line: string): void {
  followed.writes.push(nameless(line, followed.cluster));
  followed.lastAt = Date.now();
}

function choose(planned: Planned, id: number, line: string): void {
  if (nameless(line, planned.cluster) === planned.write && (planned.left -= 1) === 0) planned.target = id;
}

const nameless = (line: string, cluster: string): Write => line.replace(/\?.*$/, "").replaceAll(cluster, "NAME");
