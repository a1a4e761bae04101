import { status } from "@grpc/grpc-js";
import { omitUndefined } from "../omit-undefined.ts";
import { createJudge, type Judge, type JudgeDeps, type Seed } from "./judge.ts";
import { messages, workflowMethod } from "./messages.ts";
import { Refusal } from "./refusal.ts";

/** A call that a seed may make: what the frontend is asked, and what becomes of its answer. */
export interface Permit {
  readonly request: Uint8Array;
  readonly answer?: (bytes: Uint8Array) => Uint8Array;
}

/**
 * What the worker of a seed may ask of Temporal: to poll its own queue, and to answer the tasks of that queue. Each request
 * is written anew from the fields that were judged, so that the frontend reads nothing else. Throws `Refusal`.
 */
export function createSeedRights(deps: JudgeDeps) {
  return async (seed: Seed, path: string, request: Uint8Array): Promise<Permit> => {
    const judge = createJudge(deps, seed);
    const rule = byPath.get(path);
    if (rule === undefined) return judge.refuse(`call ${path.slice(path.lastIndexOf("/") + 1)}`);
    return await rule(request, judge);
  };
}

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
      ...pick(asked, "identity", "workerInstanceKey", "pollerGroupId", "taskQueueMetadata"),
      namespace: judge.namespace(asked.namespace),
      taskQueue: judge.queue(asked.taskQueue),
    });
    return { request, answer: (answer) => handOut(answer, judge) };
  },

  RecordActivityTaskHeartbeat(bytes, judge) {
    const asked = read(messages.RecordActivityTaskHeartbeatRequest, bytes);
    const said = pick(asked, "identity", "details");
    return write(messages.RecordActivityTaskHeartbeatRequest, { ...said, ...judge.task(asked) });
  },

  RespondActivityTaskCompleted(bytes, judge) {
    const asked = read(messages.RespondActivityTaskCompletedRequest, bytes);
    const said = pick(asked, "identity", "result");
    return write(messages.RespondActivityTaskCompletedRequest, { ...said, ...judge.task(asked) });
  },

  RespondActivityTaskFailed(bytes, judge) {
    const asked = read(messages.RespondActivityTaskFailedRequest, bytes);
    const said = pick(asked, "identity", "failure", "lastHeartbeatDetails");
    return write(messages.RespondActivityTaskFailedRequest, { ...said, ...judge.task(asked) });
  },

  RespondActivityTaskCanceled(bytes, judge) {
    const asked = read(messages.RespondActivityTaskCanceledRequest, bytes);
    const said = pick(asked, "identity", "details");
    return write(messages.RespondActivityTaskCanceledRequest, { ...said, ...judge.task(asked) });
  },

  async RespondActivityTaskCompletedById(bytes, judge) {
    const asked = read(messages.RespondActivityTaskCompletedByIdRequest, bytes);
    const said = pick(asked, "identity", "result");
    return write(messages.RespondActivityTaskCompletedByIdRequest, { ...said, ...(await judge.waiting(asked)) });
  },

  async RespondActivityTaskFailedById(bytes, judge) {
    const asked = read(messages.RespondActivityTaskFailedByIdRequest, bytes);
    const said = pick(asked, "identity", "failure", "lastHeartbeatDetails");
    return write(messages.RespondActivityTaskFailedByIdRequest, { ...said, ...(await judge.waiting(asked)) });
  },

  RecordWorkerHeartbeat(bytes, judge) {
    const asked = read(messages.RecordWorkerHeartbeatRequest, bytes);
    for (const { taskQueue } of asked.workerHeartbeat ?? []) judge.queue({ name: taskQueue });
    const said = pick(asked, "identity", "workerHeartbeat");
    return write(messages.RecordWorkerHeartbeatRequest, { ...said, namespace: judge.namespace(asked.namespace) });
  },

  ShutdownWorker(bytes, judge) {
    const asked = read(messages.ShutdownWorkerRequest, bytes);
    const said = pick(asked, "identity", "reason", "workerInstanceKey", "taskQueueTypes");
    const namespace = judge.namespace(asked.namespace);
    return write(messages.ShutdownWorkerRequest, { ...said, namespace, ...judge.shutdown(asked) });
  },
};

const byPath = new Map(Object.entries(rules).map(([name, rule]) => [workflowMethod(name), rule]));

/** The answer to a poll, with its token sealed; a poll that nothing came for has none. */
function handOut(answer: Uint8Array, judge: Judge): Uint8Array {
  const task = messages.PollActivityTaskQueueResponse.decode(answer);
  if (task.taskToken.length === 0) return answer;
  task.taskToken = judge.handOut(task.taskToken);
  return messages.PollActivityTaskQueueResponse.encode(task).finish();
}

/** The caller's message. */
function read<T>(message: { decode(bytes: Uint8Array): T }, bytes: Uint8Array): T {
  try {
    return message.decode(bytes);
  } catch {
    throw new Refusal(status.INVALID_ARGUMENT, "the request is not a message of this method");
  }
}

interface Message<T> {
  encode(message: T): { finish(): Uint8Array };
}

const write = <T>(message: Message<T>, content: T): Permit => ({ request: message.encode(content).finish() });

/** Those fields that were sent. */
function pick<T extends object, Field extends keyof T>(message: T, ...fields: readonly Field[]) {
  return omitUndefined(Object.fromEntries(fields.map((field) => [field, message[field]])) as Pick<T, Field>);
}
