/** What a Shoot can be asked for by its annotation `gardener.cloud/operation`. */
export const shootRequests = ["reconcile", "retry"] as const;

/** One of {@link shootRequests}. */
export type ShootRequest = (typeof shootRequests)[number];

/** The operations that the annotation's value asks for: several are separated by semicolons. */
export const operationsIn = (request: string): string[] => request.split(";");

/** What is left to be asked for once some of a request is answered; undefined when nothing is. */
export function unanswered(request: string, answered: readonly string[]): string | undefined {
  const left = operationsIn(request).filter((operation) => !answered.includes(operation));
  return left.length === 0 ? undefined : left.join(";");
}
