import {
  ApplicationFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from "@temporalio/workflow";
import type { ActuatorResult } from "../../src/extension/index.ts";
import type { WorkflowRequest } from "../../src/extension/workflow/index.ts";

/** What the workflow tells its test. */
export interface NetworkActivities {
  note(what: string): Promise<void>;
}

const { note } = proxyActivities<NetworkActivities>({ startToCloseTimeout: "20s" });

/** Makes a network: it goes on when it is told so, or fails as it is told. */
export async function makeNetwork({ call, generation }: WorkflowRequest): Promise<ActuatorResult | void> {
  let answer: Answer | undefined;
  setHandler(defineSignal<[Answer]>("answer"), (told) => void (answer = told));
  try {
    await note(`${call} ${generation} begins`);
    await condition(() => answer !== undefined);
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => note(`${call} ${generation} is cancelled`));
    throw error;
  }
  if (answer?.failure !== undefined)
    throw ApplicationFailure.create({ ...answer.failure, message: "the provider has no room", nonRetryable: true });
  return { state: { networks: [generation] } };
}

/** What a test tells a run to do. */
export interface Answer {
  readonly failure?: { readonly type: string; readonly details?: unknown[] };
}
