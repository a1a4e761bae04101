import type { Judge } from "./judge.ts";
import { Duration, messages, workflowMethod } from "./messages.ts";
import { excessOf, pick, read, readPart, write, type Message, type Permit } from "./seed-messages.ts";

/** A message by which a seed's worker answers a task, or reports on it. */
type Answer = Parameters<Judge["task"]>[0] &
  Parameters<Judge["waiting"]>[0] & { identity?: string | null; failure?: Failure | null };

type Failure = NonNullable<Parameters<(typeof messages.RespondActivityTaskFailedRequest)["encode"]>[0]["failure"]>;

/**
 * The right to answer a task that was handed out, or that waits; `said` are the fields of the answer. Where it is too large, the
 * activity fails for good with a sentence about that, as Temporal does with what is too large for it.
 */
export function answering<T extends Answer>(by: "task" | "waiting", message: Message<T>, ...said: (keyof T)[]) {
  return async (bytes: Uint8Array, judge: Judge): Promise<Permit> => {
    const excess = excessOf(message, bytes);
    const asked = excess === undefined ? read(message, bytes) : readPart(message, bytes, ADDRESS);
    const address = await judge[by](asked);
    if (excess !== undefined) return failed(by, address, `${judge.name} has answered with a message that ${excess}`);
    if (asked.failure) asked.failure = triedAgainSoon(asked.failure);
    return write(message, { ...pick(asked, "identity", ...said), ...address } as T);
  };
}

/** The same failure, with no pause before the next try that is longer than a minute: a seed that asks for years would hold its step for as long. */
function triedAgainSoon(failure: Failure): Failure {
  const { applicationFailureInfo: info } = failure;
  if (!info || Number(info.nextRetryDelay?.seconds ?? 0) < LONGEST_PAUSE) return failure;
  return { ...failure, applicationFailureInfo: { ...info, nextRetryDelay } };
}

/** In seconds. */
const LONGEST_PAUSE = 60;

const nextRetryDelay = Duration.fromObject({ seconds: LONGEST_PAUSE });

const ADDRESS = { namespace: true, taskToken: true, workflowId: true, runId: true, activityId: true } as const;

/** The call's own answer is empty: a worker that has sent a heartbeat learns from the next that the activity is over. */
function failed(by: "task" | "waiting", address: object, message: string): Permit {
  const { RespondActivityTaskFailedRequest, RespondActivityTaskFailedByIdRequest } = messages;
  const failure = {
    message,
    source: "gateway",
    applicationFailureInfo: { type: "AnswerTooLarge", nonRetryable: true },
  };
  const [method, request] =
    by === "task"
      ? ["RespondActivityTaskFailed", RespondActivityTaskFailedRequest.encode({ ...address, failure })]
      : ["RespondActivityTaskFailedById", RespondActivityTaskFailedByIdRequest.encode({ ...address, failure })];
  return { path: workflowMethod(method), request: request.finish(), answer: () => new Uint8Array() };
}
