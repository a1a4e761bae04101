import { isDeepStrictEqual } from "node:util";
import type { ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { createController, monotonicNow, type NamespacedKey } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { againIn } from "../again.ts";
import { createLookup } from "../names/lookup.ts";
import { createAuthorities } from "./authority.ts";
import { createLanes, QUICK, type Pace } from "./lanes.ts";
import { MOVING, MOVING_GRACE } from "./moving.ts";
import { probeEndpoint, TIMEOUT, unproved, WAITING_FOR_KUBECONFIG, writtenServing, type Serving } from "./probe.ts";
import type { Trust } from "./trust.ts";

/** Where the prober finds what it asks about, and whom it tells; times are ms. */
export interface ProberDeps {
  endpoint(key: NamespacedKey): ClusterEndpoint | undefined;
  trust(cluster: NamespacedKey): Trust | undefined;
  /** Whether the control plane of a Cluster is on its way to another place. */
  moves(cluster: NamespacedKey): boolean;
  /** Called when an endpoint of the Cluster serves otherwise than before. */
  onChange(cluster: NamespacedKey): void;
  readonly log: Logger;
  readonly period?: number;
  readonly now?: () => number;
  readonly probe?: typeof probeEndpoint;
}

/** What is known of each endpoint, and the questions that keep it so. */
export interface Prober {
  /** Undefined before the first answer since this process has led. */
  servingOf(endpoint: ClusterEndpoint): Serving | undefined;
  /** Asks now, and from then on once a minute, until the endpoint is gone. */
  ask(key: NamespacedKey): void;
  start(): void;
  stop(): Promise<void>;
}

/**
 * Asks every endpoint whether it serves: when it is told to, and each minute, give or take a tenth; each five seconds while its control plane
 * moves. How many endpoints do not answer, or slowly, delays none that does.
 */
export function createProber(deps: ProberDeps): Prober {
  const { log, period = 60_000, now = monotonicNow, probe = probeEndpoint } = deps;
  const known = new Map<string, Known>();
  const inLane = createLanes();
  const options = { authorityOf: createAuthorities(), lookup: createLookup() };

  /** While a control plane moves, a gap is none until it is longer than a migration's. */
  function judge(found: Serving, before: Known | undefined): Serving {
    if (found.status !== "False" || before?.serving.status !== "True" || now() - before.at > MOVING_GRACE) return found;
    return { ...before.serving, reason: MOVING, message: `the control plane moves: ${found.message}` };
  }

  async function look(key: NamespacedKey, { signal }: { readonly signal: AbortSignal }) {
    const endpoint = deps.endpoint(key);
    const pace = endpoint && (knownOf(endpoint) ?? writtenOf(endpoint))?.pace;
    return await inLane({ pace: pace ?? "unheard", namespace: key.namespace }, () => askNow(key, signal));
  }

  async function askNow(key: NamespacedKey, signal: AbortSignal) {
    if (signal.aborted) return;
    const endpoint = deps.endpoint(key);
    if (endpoint === undefined) return void known.delete(idOf(key));
    const { host, port, cluster: name } = endpoint.spec;
    const cluster = { namespace: key.namespace, name };
    const trust = deps.trust(cluster);
    const begun = now();
    const found = trust === undefined ? unproved(name) : await probe({ host, port }, trust, { signal, ...options });
    if (signal.aborted) return; // a question that was cut short says nothing
    const moves = deps.moves(cluster);
    if (note(endpoint, { found, pace: paceOf(found, now() - begun) }, moves)) deps.onChange(cluster);
    return againIn(moves ? period / 12 : period); // how long a gap is shows only to those who ask more often than it lasts
  }

  /** Keeps an answer; says whether it changes what is said of the endpoint. */
  function note(endpoint: ClusterEndpoint, { found, pace }: Answer, moves: boolean): boolean {
    const before = (moves ? latestOf(endpoint) : knownOf(endpoint)) ?? writtenOf(endpoint);
    const serving = moves ? judge(found, before) : found;
    const at = found.status === "True" || before === undefined ? now() : before.at;
    const { uid, generation } = endpoint.metadata;
    known.set(idOf(endpoint.metadata), { uid, generation, serving, pace, at });
    return !isDeepStrictEqual(before?.serving, serving);
  }

  function knownOf(endpoint: ClusterEndpoint): Known | undefined {
    const found = latestOf(endpoint);
    return found?.generation === endpoint.metadata.generation ? found : undefined;
  }

  /** A control plane that moves may come to another address: to be away while it does so is the same gap. */
  function latestOf({ metadata }: ClusterEndpoint): Known | undefined {
    const found = known.get(idOf(metadata));
    return found?.uid === metadata.uid ? found : undefined;
  }

  /** What an earlier process found out and wrote. */
  function writtenOf(endpoint: ClusterEndpoint): Known | undefined {
    const serving = writtenServing(endpoint);
    const { uid, generation } = endpoint.metadata;
    return serving && { uid, generation, serving, pace: paceOf(serving), at: now() };
  }

  const controller = createController<NamespacedKey>({
    name: "endpoint-prober",
    reconcile: look,
    concurrency: Infinity, // lanes bound what is asked at once
    log,
  });
  return {
    servingOf: (endpoint) => knownOf(endpoint)?.serving,
    ask: (key) => controller.enqueue(key),
    start: () => controller.start(),
    stop: () => controller.stop(),
  };
}

/** What an endpoint said last, and when it last served. */
interface Known {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly serving: Serving;
  readonly pace: Pace;
  readonly at: number;
}

interface Answer {
  readonly found: Serving;
  readonly pace: Pace;
}

/** Of an answer that took so long, in ms; undefined where an earlier process has heard it. */
function paceOf({ reason }: Serving, took = 0): Pace {
  if (reason === WAITING_FOR_KUBECONFIG) return "unheard";
  return reason === TIMEOUT || took > QUICK ? "slow" : "quick";
}

const idOf = ({ namespace, name }: NamespacedKey): string => `${namespace}/${name}`;
