import { setTimeout as sleep } from "node:timers/promises";
import { commandLines } from "../../api/command-lines.ts";
import type { Shoot } from "../../api/index.ts";
import { moveOf } from "../../api/placement/move.ts";
import type { FlowProgress } from "../../api/shoot/run.ts";
import type { ShootClient } from "../../client/shoots.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Context } from "../context.ts";
import { CliError, explainFully, type Exit } from "../exit.ts";
import { readShoot, shootRef } from "../find-shoot.ts";
import { createProgressDisplay } from "./progress.ts";
import { paint } from "./style.ts";
import { hibernation, wakeUp } from "../report/hibernation.ts";
import { noteOnMove } from "../report/kubeconfig.ts";
import { phaseOf } from "../report/phase.ts";
import type { Output } from "./terminal.ts";
import { wrap } from "./wrap.ts";
import { tellNews } from "../../tell-news.ts";

/** Looks again twice a second. */
const period = 500;

/** What is followed, and for how long at most (ms). */
export interface Following {
  readonly garden: { readonly client: Pick<KubeClient, "read"> };
  readonly flows: Pick<ShootClient, "progress">;
  readonly shoot: Shoot;
  readonly timeout?: number | undefined;
}

/** Follows a Shoot's operation on the terminal until it stands: ready or gone is done, parked is failed. */
export async function followShoot(context: Context, { garden, flows, shoot, timeout }: Following): Promise<Exit> {
  const { namespace, name } = shoot.metadata;
  const out = context.terminal.err;
  const subject = `${namespace}/${name}`;
  const display = createProgressDisplay(out, subject);
  const progressOf = createProgressReader(flows, shoot);
  const trouble = createTrouble(out);
  const deadline = timeout === undefined ? Number.POSITIVE_INFINITY : context.now() + timeout;
  try {
    for (;;) {
      if (context.signal.aborted) return interrupted(out, subject);
      if (context.now() > deadline)
        throw new CliError(
          "timeout",
          `Shoot ${subject} is not there yet after --timeout; it goes on: ${commandLines.watchShoot(subject)}`,
        );
      // The status first: it is written after the flow's own progress, so the last picture is complete.
      const current = await trouble.tolerate(() => readShoot(garden.client, namespace, name), shoot);
      const gone = current === undefined || current.metadata.uid !== shoot.metadata.uid;
      const progress = await trouble.tolerate(() => progressOf(), undefined);
      if (progress) display.show(progress, context.now());
      if (gone) return tell(out, "good", `Shoot ${subject} is gone`, "done");
      const phase = phaseOf(current);
      if (phase === "ready") return tellReady(out, current, hasMoved(shoot, current));
      if (phase === "failed")
        return tell(
          out,
          "bad",
          `Shoot ${subject} waits for an operator: ${commandLines.describeShoot(subject)}`,
          "failed",
        );
      await sleep(period, undefined, { signal: context.signal }).catch(() => {});
    }
  } finally {
    display.end();
  }
}

/** Whether another Seed leads the Shoot now than its kubeconfigs were written for: it came to it since, or shortly before. */
function hasMoved(before: Shoot, now: Shoot): boolean {
  const from = before.status?.seedName;
  return (from !== undefined && now.status?.seedName !== from) || moveOf(before).is === "arriving";
}

/** Waits until steps that were asked to go on have left the state they waited in; the Shoot's status has too, then. */
export async function untilResumed(
  { flows, shoot }: Following,
  steps: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const waiting = async () => {
    const progress = await flows.progress(shootRef(shoot));
    return new Map(progress?.steps.map((step) => [step.name, `${step.state} ${step.since ?? ""}`]));
  };
  const before = await waiting();
  for (let look = 0; look < 20 && !signal.aborted; look++) {
    const now = await waiting();
    if (steps.every((step) => now.get(step) !== before.get(step) || !/^(parked|retrying) /.test(now.get(step) ?? "")))
      return;
    await sleep(period, undefined, { signal }).catch(() => {});
  }
}

/** The progress of what runs or begins from now on; what had ended before is not shown again. */
function createProgressReader(
  flows: Pick<ShootClient, "progress">,
  shoot: Shoot,
): () => Promise<FlowProgress | undefined> {
  let before: string | undefined;
  let first = true;
  return async () => {
    const progress = await flows.progress(shootRef(shoot));
    if (first) before = progress?.finishedAt === undefined ? undefined : progress.startedAt;
    first = false;
    return progress?.startedAt === before ? undefined : progress;
  };
}

/** A hiccup of a connection is said once and does not end the following. */
function createTrouble(out: Output) {
  const tell = tellNews((sentence) => out.write(`${paint(out, "attention", "waiting:")} ${sentence}\n`));
  return {
    async tolerate<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
      try {
        const value = await read();
        return value;
      } catch (error) {
        tell(explainFully(error));
        return otherwise;
      }
    },
  };
}

function tellReady(out: Output, shoot: Shoot, moved: boolean): Exit {
  const { namespace, name } = shoot.metadata;
  const subject = `${namespace}/${name}`;
  const asleep = hibernation(shoot) === "Hibernated";
  tell(out, "good", `Shoot ${subject} is ${asleep ? "hibernated" : "ready"}`, "done");
  if (asleep)
    out.write(`${wrap(`It has no nodes and no API server meanwhile; ${wakeUp(namespace, name)}`, out.width)}\n`);
  if (moved) out.write(`${wrap(noteOnMove(subject), out.width)}\n`);
  return "done";
}

function tell(out: Output, tone: "good" | "bad", sentence: string, exit: Exit): Exit {
  out.write(`${paint(out, tone, sentence)}\n`);
  return exit;
}

function interrupted(out: Output, subject: string): Exit {
  out.write(`Interrupted; the operation goes on. Follow it again: ${commandLines.watchShoot(subject)}\n`);
  return "interrupted";
}
