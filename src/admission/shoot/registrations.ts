import { registeredOf, type Registered } from "../../api/registration/registered.ts";
import { KnownRegistration } from "../watched/known.ts";
import type { KubeClient } from "../../kube/index.ts";

/** The garden's registrations, without their charts. */
export interface Registrations {
  /** As the API server has them now. */
  now(): Promise<readonly Registered[]>;
  /** As they were asked for last, if that was within two seconds: what a Shoot is defaulted by, it is judged by. */
  lately(): Promise<readonly Registered[]>;
}

/** Asks the garden for its registrations; `time` is ms. */
export function createRegistrations(
  client: Pick<KubeClient, "list">,
  time: () => number = () => performance.now(),
): Registrations {
  let last: { readonly at: number; readonly answer: Promise<readonly Registered[]> } | undefined;
  const now = () => {
    const answer = client.list(KnownRegistration).then((all) => latest(all.map(registeredOf)));
    last = { at: time(), answer };
    answer.catch(() => (last = last?.answer === answer ? undefined : last));
    return answer;
  };
  return { now, lately: () => (last !== undefined && time() - last.at < FRESH ? last.answer : now()) };
}

/** Of each registration the version that was admitted last. */
const latest = (all: readonly Registered[]): Registered[] => [...new Map(all.map((one) => [one.name, one])).values()];

/** In ms: an API server asks the one webhook right after the other. */
const FRESH = 2_000;
