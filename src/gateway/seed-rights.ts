import { createJudge, type Judge, type JudgeDeps, type Seed } from "./judge.ts";
import { partOf } from "./message-part.ts";
import { messages, typeOf, workflowMethod } from "./messages.ts";
import { answering } from "./seed-answers.ts";
import { bounded, pick, read, write, type Permit } from "./seed-messages.ts";
import type { UpstreamCall } from "./upstream.ts";

/**
 * What the worker of a seed may ask of Temporal: to poll its own queue, and to answer the tasks of that queue. Each request
 * is written anew from the fields that were judged, so that the frontend reads nothing else. Throws `Refusal`.
 */
export function createSeedRights(deps: Omit<JudgeDeps, "upstream">) {
  return async (seed: Seed, { path, request, upstream }: Asked): Promise<Permit> => {
    const judge = createJudge({ ...deps, upstream }, seed);
    const rule = byPath.get(path);
    if (rule === undefined) return judge.refuse(`call ${path.slice(path.lastIndexOf("/") + 1)}`);
    return await rule(request, judge);
  };
}

/** A call of a seed; `upstream` answers the questions that judging it takes. */
type Asked = Pick<UpstreamCall, "path" | "request"> & Pick<JudgeDeps, "upstream">;

type Rule = (bytes: Uint8Array, judge: Judge) => Permit | Promise<Permit>;

const rules: Readonly<Record<string, Rule>> = {
  GetSystemInfo: () => ({ request: new Uint8Array() }),

  DescribeNamespace(bytes, judge) {
    const { namespace, id } = read(messages.DescribeNamespaceRequest, bytes);
    if (id) judge.refuse("describe a namespace by its id");
    return write(messages.DescribeNamespaceRequest, { namespace: judge.namespace(namespace) });
  },

  /** Without versions: a seed's worker takes no part in the roll-out of the garden's builds. */
  PollActivityTaskQueue(bytes, judge) {
    const asked = read(messages.PollActivityTaskQueueRequest, bytes);
    const { request } = write(messages.PollActivityTaskQueueRequest, {
      ...bounded(pick(asked, ...pollNames), ...pollNames),
      ...pick(asked, "taskQueueMetadata"),
      namespace: judge.namespace(asked.namespace),
      taskQueue: judge.queue(asked.taskQueue),
    });
    return { request, answer: (answer) => handOut(answer, judge) };
  },

  RecordActivityTaskHeartbeat: answering("task", messages.RecordActivityTaskHeartbeatRequest, "details"),
  RespondActivityTaskCompleted: answering("task", messages.RespondActivityTaskCompletedRequest, "result"),
  RespondActivityTaskFailed: answering(
    "task",
    messages.RespondActivityTaskFailedRequest,
    "failure",
    "lastHeartbeatDetails",
  ),
  RespondActivityTaskCanceled: answering("task", messages.RespondActivityTaskCanceledRequest, "details"),
  RespondActivityTaskCompletedById: answering("waiting", messages.RespondActivityTaskCompletedByIdRequest, "result"),
  RespondActivityTaskFailedById: answering(
    "waiting",
    messages.RespondActivityTaskFailedByIdRequest,
    "failure",
    "lastHeartbeatDetails",
  ),

  /**
   * Is not passed on: Temporal keeps each worker that a heartbeat names in memory for five minutes, a million of them, of
   * whatever length, and nothing of ours reads them.
   */
  RecordWorkerHeartbeat(bytes, judge) {
    const asked = read(messages.RecordWorkerHeartbeatRequest, bytes);
    judge.namespace(asked.namespace);
    for (const { taskQueue } of asked.workerHeartbeat ?? []) judge.queue({ name: taskQueue });
    return { answered: messages.RecordWorkerHeartbeatResponse.encode({}).finish() };
  },

  /** Of activities only, whatever types it lists: Temporal asks each partition of the queue once for each in the list. */
  ShutdownWorker(bytes, judge) {
    const asked = read(messages.ShutdownWorkerRequest, bytes);
    const said = bounded(pick(asked, ...shutdownNames), ...shutdownNames);
    const namespace = judge.namespace(asked.namespace);
    const taskQueueTypes = [ACTIVITY];
    return write(messages.ShutdownWorkerRequest, { ...said, taskQueueTypes, namespace, ...judge.shutdown(asked) });
  },
};

const pollNames = ["identity", "workerInstanceKey", "pollerGroupId"] as const;

const shutdownNames = ["identity", "reason", "workerInstanceKey"] as const;

/** temporal.api.enums.v1.TaskQueueType */
const ACTIVITY = 2;

const byPath = new Map(Object.entries(rules).map(([name, rule]) => [workflowMethod(name), rule]));

/** The answer to a poll, with its token sealed; a poll that nothing came for has none. What else is in it is not decoded. */
function handOut(answer: Uint8Array, judge: Judge): Uint8Array {
  const Response = messages.PollActivityTaskQueueResponse;
  const { taskToken } = Response.decode(partOf(typeOf(Response), answer, { taskToken: true }));
  if (taskToken.length === 0) return answer;
  const sealed = Response.encode({ taskToken: judge.handOut(taskToken) }).finish();
  return Buffer.concat([partOf(typeOf(Response), answer, allButTheToken), sealed]);
}

const { taskToken: _, ...allButTheToken } = Object.fromEntries(
  typeOf(messages.PollActivityTaskQueueResponse).fieldsArray.map(({ name }) => [name, true] as const),
);
