import { existsSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { backoffDelay } from "../../kube/backoff.ts";
import { createKubeClient } from "../../kube/http-client.ts";
import { Secret } from "../../kube/kinds.ts";
import { createReflector } from "../../kube/watch.ts";
import type { Logger } from "../../log.ts";
import type { Machine } from "../../node-agent/perform.ts";
import { createBell, type Bell } from "./bell.ts";
import { ensureCredentials, type AgentIdentity } from "./credentials.ts";
import { isAway, quiet } from "./away.ts";
import { beat } from "./heartbeat.ts";
import { createRounds, type RoundEnd } from "./round.ts";
import { createTurn } from "./turn.ts";

/** What an agent is made from. */
export interface AgentDeps {
  readonly identity: AgentIdentity;
  readonly machine: Machine;
  readonly log: Logger;
  /** In ms since 1970. */
  now(): number;
  /** In ms; those of a machine unless told otherwise. */
  readonly timing?: AgentTiming;
}

/** How often an agent does what, in ms. */
export interface AgentTiming {
  /** Looks at a machine of which nothing new was said. */
  readonly resync: number;
  /** Looks again for what is not there yet. */
  readonly recheck: number;
  /** Looks whether the certificate is to be renewed. */
  readonly credentials: number;
  /** At most, after failures in a row. */
  readonly longestPause: number;
}

const TIMING: AgentTiming = { resync: 600_000, recheck: 2_000, credentials: 60_000, longestPause: 60_000 };

/**
 * Keeps a machine as the Secret of its pool says, until it is stopped, or has changed itself or its certificate: then systemd
 * starts it anew. While the API server is away it goes on trying; what has failed is tried again, later each time.
 */
export async function runAgent(
  { identity, machine, log, now, timing = TIMING }: AgentDeps,
  stop: AbortSignal,
): Promise<void> {
  const ending = new AbortController();
  const signal = AbortSignal.any([stop, ending.signal]);
  await untilDone(log, timing, signal, async () => void (await ensureCredentials(identity, now(), signal)));
  if (signal.aborted) return;
  const { places, node, configuration } = identity;
  const client = createKubeClient({ file: places.kubeconfig }, { userAgent: "gardener-node-agent", log });
  const { secretName: name, pool } = configuration;
  const rounds = createRounds({ machine, identity, client, log, turn: createTurn(client, pool, node) });
  const news = createBell();
  const namespace = SYSTEM_NAMESPACE;
  const fieldSelector = `metadata.name=${name}`;
  const onEvent = () => news.ring();
  const secrets = createReflector(client, Secret, { namespace, fieldSelector, log: quiet(log), onEvent });
  secrets.start();
  // A machine that joins once more has a token again, which goes when it is seen that nothing needs it.
  const tokens = watch(dirname(places.token), (_, file) => {
    if (file === basename(places.token) && existsSync(places.token)) news.ring();
  });
  const lasting = [
    beat(client, node, { log, signal }),
    renew({ identity, log, now, timing }, signal).then((isRenewed) => {
      if (isRenewed) ending.abort(new Error("the agent has another certificate"));
    }),
  ];
  try {
    await keep(secrets, rounds, { name, news, log, timing }, signal);
  } finally {
    ending.abort(new Error("the agent ends"));
    tokens.close();
    await Promise.all([secrets.stop(), ...lasting]);
    await client.close();
  }
}

interface Keeping {
  readonly name: string;
  readonly news: Bell;
  readonly log: Logger;
  readonly timing: AgentTiming;
}

async function keep(
  secrets: { get(name: string, namespace: string): Secret | undefined },
  rounds: (secret: Secret, signal: AbortSignal) => Promise<RoundEnd>,
  { name, news, log, timing }: Keeping,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let pause = timing.resync;
    const secret = secrets.get(name, SYSTEM_NAMESPACE);
    try {
      const end = secret === undefined ? "waiting" : await rounds(secret, signal);
      if (end === "restart") return void log.info("the agent itself has changed: it ends, to be started anew");
      if (end === "waiting") pause = timing.recheck;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!isAway(error)) log.error({ err: error }, "machine not as it is to be");
      pause = backoffDelay(failures++, { first: 1_000, most: timing.longestPause }, error);
    }
    await news.heard(pause, signal);
  }
}

/** Looks for the certificate's time from time to time; true when there is another one, false when it is stopped. */
async function renew(
  { identity, log, now, timing }: Omit<Required<AgentDeps>, "machine">,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    await delay(timing.credentials, undefined, { signal }).catch(() => {});
    if (signal.aborted) return false;
    try {
      if (await ensureCredentials(identity, now(), signal)) return true;
    } catch (error) {
      if (!isAway(error)) log.warn({ err: error }, "certificate not renewed");
    }
  }
  return false;
}

/** Does it until it succeeds or is stopped. */
async function untilDone(
  log: Logger,
  { longestPause: most }: AgentTiming,
  signal: AbortSignal,
  act: () => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await act();
    } catch (error) {
      if (signal.aborted) return;
      log.error({ err: error }, "no certificate yet");
      await delay(backoffDelay(failures, { first: 1_000, most }, error), undefined, { signal }).catch(() => {});
    }
  }
}
