import { status } from "@grpc/grpc-js";
import { seedQueue } from "../workflows/contract.ts";
import type { Identity } from "./identity.ts";
import { forbidden, Refusal } from "./refusal.ts";
import { bounded } from "./seed-messages.ts";
import type { TaskTokens } from "./task-tokens.ts";
import { findWaitingQueue, type Waiting } from "./waiting-queue.ts";
import type { Upstream } from "./upstream.ts";

/** What judging takes. */
export interface JudgeDeps {
  readonly namespace: string;
  readonly tokens: TaskTokens;
  readonly upstream: Pick<Upstream, "call">;
}

/** Judges the parts of what one seed's worker asks. Each method answers the part as it goes on, or throws `Refusal`. */
export type Judge = ReturnType<typeof createJudge>;

/** The worker of a seed. */
export type Seed = Extract<Identity, { kind: "seed" }>;

/** Judges for this seed. */
export function createJudge({ namespace, tokens, upstream }: JudgeDeps, { name, seed }: Seed) {
  const ownQueue = seedQueue(seed);
  return {
    name,
    namespace(asked: Text): string {
      if (asked !== namespace) throw forbidden(name, `act in Temporal's namespace ${quoted(asked)}`);
      return namespace;
    },
    /** Exactly: `/_sys/seed-2/1` is a partition of queue `seed-2`. */
    queue(asked: { readonly name?: Text; readonly normalName?: Text } | null | undefined) {
      if (asked?.name !== ownQueue || asked.normalName) throw forbidden(name, `poll queue ${quoted(asked?.name)}`);
      return { name: ownQueue, kind: NORMAL };
    },
    task({ namespace: asked, taskToken }: { readonly namespace?: Text; readonly taskToken?: Uint8Array | null }) {
      const token = tokens.open(taskToken ?? new Uint8Array(), name);
      if (token === undefined) throw forbidden(name, "answer a task that was not handed out to it");
      return { namespace: this.namespace(asked), taskToken: token };
    },
    /**
     * Without the run's id the latest run would answer, whichever that is. An activity of another seed is answered like one that
     * does not exist, so that a seed cannot find out about it.
     */
    async waiting({ namespace: asked, workflowId, runId, activityId }: AnyWaiting) {
      const own = this.namespace(asked);
      if (!workflowId || !runId || !activityId)
        throw new Refusal(status.INVALID_ARGUMENT, "an activity is named by its workflow, its run and its own id");
      const waiting: Waiting = bounded({ workflowId, runId, activityId }, "workflowId", "runId", "activityId");
      const queue = await findWaitingQueue(upstream, namespace, waiting);
      if (queue !== ownQueue)
        throw new Refusal(status.NOT_FOUND, `no activity ${activityId} of ${workflowId} waits for ${name}`);
      return { namespace: own, ...waiting };
    },
    /** A sticky queue is a workflow worker's. */
    shutdown({ stickyTaskQueue, taskQueue }: { readonly stickyTaskQueue?: Text; readonly taskQueue?: Text }) {
      if (stickyTaskQueue) throw forbidden(name, `shut down the worker of queue ${quoted(stickyTaskQueue)}`);
      return taskQueue ? { taskQueue: this.queue({ name: taskQueue }).name } : {};
    },
    handOut: (token: Uint8Array): Uint8Array => tokens.seal(token, name),
    refuse: (what: string): never => {
      throw forbidden(name, what);
    },
  };
}

type Text = string | null | undefined;

type AnyWaiting = { readonly [Field in keyof Waiting | "namespace"]?: Text };

/** temporal.api.enums.v1.TaskQueueKind */
const NORMAL = 1;

const quoted = (text: Text): string => JSON.stringify(text ?? "");
