import { setTimeout as sleep } from "node:timers/promises";
import type { ShootClients } from "../activities/shoot/clients.ts";
import { ROLE_LABEL } from "../api/labels.ts";
import type { KubeObject } from "../api/index.ts";
import { Namespace, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** The clients of garden, seed and Shoots; `period` is ms, a minute unless told otherwise. */
export interface RoundsDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
  readonly shootClients: ShootClients;
  readonly log: Logger;
  readonly period?: number;
}

/** What is done about a Shoot's namespace: it is given what it returned last time, until the namespace is gone. */
export type Visit<Memory> = (
  namespace: string,
  before: Memory | undefined,
  listed: KubeObject,
) => Promise<Memory | undefined>;

interface Round<Memory> {
  readonly visit: Visit<Memory>;
  /** What is logged of a visit that fails. */
  readonly failure: string;
  /** Told of a namespace that is gone. */
  readonly forget?: (namespace: string) => void;
}

/** How many Shoots are visited at once: users can have theirs keep a visit waiting for half a minute, by a webhook that never answers. */
const AT_ONCE = 16;

/** In ms: a visit that takes longer is left to itself. */
const LONGEST_VISIT = 300_000;

/**
 * Visits the Shoots' namespaces of a seed, a few at once, again and again. A visit that fails is logged as `failure`, and changes
 * nothing in what is remembered. One that takes more than `longest` ms keeps no round from its end, and is not begun again until it has ended.
 */
export function createRounds<Memory>(
  {
    seedClient,
    log,
    period = 60_000,
    longest = LONGEST_VISIT,
  }: Pick<RoundsDeps, "seedClient" | "log" | "period"> & { readonly longest?: number },
  { visit, failure, forget }: Round<Memory>,
) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const remembered = new Map<string, Memory | undefined>();

  const underWay = new Set<string>();

  const visitOne = async (name: string, namespace: KubeObject) => {
    underWay.add(name);
    try {
      remembered.set(name, await visit(name, remembered.get(name), namespace));
    } catch (error) {
      log.warn({ namespace: name, err: error }, failure);
    } finally {
      underWay.delete(name);
    }
  };

  const unlessLong = async (work: Promise<void>) => {
    const done = new AbortController();
    const late = sleep(longest, undefined, { signal: done.signal }).catch(() => undefined);
    await Promise.race([work, late]).finally(() => done.abort());
  };

  const round = async () => {
    const namespaces = await seedClient.list(Namespace, { labelSelector: `${ROLE_LABEL}=shoot` });
    const found = new Map(namespaces.map((namespace) => [namespace.metadata.name, namespace]));
    for (const name of remembered.keys()) {
      if (found.has(name)) continue;
      remembered.delete(name);
      forget?.(name);
    }
    const left = found.entries();
    const visitEach = async () => {
      for (const [name, namespace] of left) {
        if (signal.aborted) return;
        if (!underWay.has(name)) await unlessLong(visitOne(name, namespace));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, visitEach));
  };

  return {
    /** Visits each namespace once. */
    round,
    async run(): Promise<void> {
      while (!signal.aborted) {
        await round().catch((error: unknown) => log.warn({ err: error }, "cannot list the Shoots' namespaces"));
        await sleep(period, undefined, { signal }).catch(() => undefined);
      }
    },
    stop: () => stopping.abort(),
  };
}
