import { existsSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import { backoffDelay } from "../../kube/backoff.ts";
import { Secret } from "../../kube/kinds.ts";
import { createReflector } from "../../kube/watch.ts";
import type { Logger } from "../../log.ts";
import type { Machine } from "../../node-agent/perform.ts";
import { createBell } from "./bell.ts";
import { ensureCredentials } from "./credentials.ts";
import type { AgentIdentity } from "../machine/agent-identity.ts";
import { isAway, quiet } from "../cluster/away.ts";
import { beat } from "./heartbeat.ts";
import { keepLooking, RESYNC, type LookTiming } from "./keep-looking.ts";
import { createRounds } from "./round.ts";
import { createTurn } from "./turn.ts";
import { createClusterClient } from "../cluster/client.ts";

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
export interface AgentTiming extends Omit<LookTiming, "retry"> {
  /** Looks whether the certificate is to be renewed. */
  readonly credentials: number;
}

const TIMING: AgentTiming = { resync: RESYNC, recheck: 2_000, credentials: 60_000, longestPause: 60_000 };

/** In ms: the pause after a first failure. */
const RETRY = 1_000;

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
  const client = createClusterClient({ file: places.kubeconfig }, { userAgent: "gardener-node-agent", log });
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
  const look = async () => {
    const secret = secrets.get(name, namespace);
    const end = secret === undefined ? "waiting" : await rounds(secret, signal);
    if (end !== "restart") return end;
    log.info("the agent itself has changed: it ends, to be started anew");
    return "over";
  };
  const lasting = [
    beat(client, node, { log, signal }),
    renew({ identity, log, now, timing }, signal).then((isRenewed) => {
      if (isRenewed) ending.abort(new Error("the agent has another certificate"));
    }),
  ];
  try {
    await keepLooking(
      { look, news, log, failed: "machine not as it is to be", timing: { ...timing, retry: RETRY } },
      signal,
    );
  } finally {
    ending.abort(new Error("the agent ends"));
    tokens.close();
    await Promise.all([secrets.stop(), ...lasting]);
    await client.close();
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
      await delay(backoffDelay(failures, { first: RETRY, most }, error), undefined, { signal }).catch(() => {});
    }
  }
}
