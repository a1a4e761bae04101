import { createController, type NamespacedKey } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { againIn, type Again } from "../again.ts";
import { createAuthorities } from "../endpoint/authority.ts";
import { createFairLimiter } from "../../fair-limiter.ts";
import { probeEndpoint, type Serving } from "../endpoint/probe.ts";
import type { Trust } from "../endpoint/trust.ts";
import { renderEndpoint, type Endpoint } from "../endpoint/value.ts";
import { createLookup } from "../names/lookup.ts";

/** An API server of a record, and by what it is known. */
export interface Target {
  /** The name of its Machine. */
  readonly machine: string;
  readonly endpoint: Endpoint;
  readonly trust: Trust;
}

/** What is known of the API servers behind each record, and the questions that keep it so. */
export interface MemberProber {
  /** Asks these from now on, and no others; what is known of those that stay is kept. */
  follow(record: NamespacedKey, targets: readonly Target[]): void;
  /** Undefined before it is known, since this process has led. */
  servingOf(record: NamespacedKey, machine: string): Serving | undefined;
  start(): void;
  stop(): Promise<void>;
}

/** Whom the prober tells, and how it asks; times are ms. */
export interface MemberProberDeps {
  /** Called when an API server of the record serves, or no longer does. */
  onChange(record: NamespacedKey): void;
  readonly log: Logger;
  /** Between two questions to one that serves; 3 s unless told otherwise. */
  readonly period?: number;
  readonly probe?: typeof probeEndpoint;
}

/**
 * In ms: how long an answer may take. One that dies without a word right after its answer is asked after 3.3 s, and again 0.55 s after the
 * first silence: it is known 7.85 s after its last answer at the latest, and has two seconds to be out of the DNS.
 */
const TIMEOUT = 2_000;

/** How many questions are open at once to API servers that serve, as far as is known, and how many to all others. */
const OPEN_AT_ONCE = 1_000;

/** In ms: after a failed question the next comes so soon, then after twice as long, up to the longest. */
const backoff = { first: 500, longest: 10_000 } as const;

/**
 * Asks each API server every three seconds, give or take a tenth. One counts as dead after two failures in a row, so that a
 * single lost packet changes nothing, and as alive after one answer. One that serves does not wait for those that do not, however many
 * there are; among each, namespaces take turns.
 */
export function createMemberProber(deps: MemberProberDeps): MemberProber {
  const { log, period = 3_000, probe = probeEndpoint } = deps;
  const records = new Map<string, ReadonlyMap<string, Known>>();
  const options = { timeout: TIMEOUT, authorityOf: createAuthorities(), lookup: createLookup() };

  const serving = createFairLimiter(OPEN_AT_ONCE);
  const others = createFairLimiter(OPEN_AT_ONCE);

  const knownOf = ({ namespace, name }: MemberKey) =>
    records.get(`${namespace}/${name.split("/")[0]}`)?.get(name.split("/")[1] ?? "");

  async function look(key: MemberKey, { signal }: { readonly signal: AbortSignal }): Promise<void | Again> {
    const limit = knownOf(key)?.serving?.status === "True" ? serving : others;
    return await limit(key.namespace, () => askNow(key, signal));
  }

  async function askNow(key: MemberKey, signal: AbortSignal): Promise<void | Again> {
    const known = knownOf(key);
    if (known === undefined || signal.aborted) return;
    const { endpoint, trust } = known.target;
    const found = await probe(endpoint, trust, { signal, ...options });
    if (signal.aborted) return; // a question that was cut short says nothing
    known.failures = found.status === "True" ? 0 : known.failures + 1;
    const before = known.serving;
    if (known.failures !== 1) known.serving = found;
    const [name = ""] = key.name.split("/");
    if (before?.message !== known.serving?.message) deps.onChange({ namespace: key.namespace, name });
    const wait = known.failures === 0 ? period : Math.min(backoff.first * 2 ** (known.failures - 1), backoff.longest);
    return againIn(wait);
  }

  const controller = createController<MemberKey>({
    name: "endpoint-record-prober",
    reconcile: look,
    concurrency: Infinity, // limiters bound what is asked at once
    log,
  });
  return {
    follow(record, targets) {
      const before = records.get(idOf(record));
      const keep = (target: Target): Known => {
        const known = before?.get(target.machine);
        const isSame = known !== undefined && idOfTarget(known.target) === idOfTarget(target);
        return isSame ? Object.assign(known, { target }) : { target, failures: 0, serving: undefined };
      };
      const now = new Map(targets.map((target) => [target.machine, keep(target)]));
      if (now.size > 0) records.set(idOf(record), now);
      else records.delete(idOf(record));
      for (const [machine, known] of now)
        if (before?.get(machine) !== known)
          controller.enqueue({ namespace: record.namespace, name: `${record.name}/${machine}` });
    },
    servingOf: (record, machine) => records.get(idOf(record))?.get(machine)?.serving,
    start: () => controller.start(),
    stop: () => controller.stop(),
  };
}

interface Known {
  target: Target;
  /** In a row. */
  failures: number;
  serving: Serving | undefined;
}

/** Namespace, and `record/machine`: neither name has a slash. */
type MemberKey = NamespacedKey;

const idOf = ({ namespace, name }: NamespacedKey): string => `${namespace}/${name}`;

/** What was known of another address, or under another name, says nothing. */
const idOfTarget = ({ endpoint, trust: { serverName } }: Target): string => `${renderEndpoint(endpoint)} ${serverName}`;
