import { createLimiter } from "../../activities/waits/limiter.ts";
import { TIMEOUT, WAITING_FOR_KUBECONFIG } from "./probe.ts";

/**
 * How many questions of a lane are open at once. One that is not answered is given up after five seconds, so a lane of endpoints that never
 * answer asks some 1,500 of them a minute.
 */
const OPEN_AT_ONCE = 128;

/** Runs a question in the lane of the endpoint that it is about, which `reason` names: what was heard of the endpoint last. */
export type Lanes = <Result>(reason: string | undefined, question: () => Promise<Result>) => Promise<Result>;

/**
 * Three lanes for questions: endpoints that answered last time wait neither for those that did not answer in time, nor for those that
 * were never asked, which a user may make by the hundred at addresses where nothing answers. In a lane the first that comes is the first asked.
 */
export function createLanes(): Lanes {
  const [answered, silent, unheard] = [
    createLimiter(OPEN_AT_ONCE),
    createLimiter(OPEN_AT_ONCE),
    createLimiter(OPEN_AT_ONCE),
  ];
  return (reason, question) => {
    if (reason === undefined || reason === WAITING_FOR_KUBECONFIG) return unheard(question);
    return reason === TIMEOUT ? silent(question) : answered(question);
  };
}
