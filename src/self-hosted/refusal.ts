/** What of a workload no static pod can have. The message names workload, field and remedy, and quotes no value of a Secret. */
export class NoStaticPodError extends Error {
  override readonly name = "NoStaticPodError";
}

/** Ends a translation: what is wrong, at which field, and what helps. */
export type Refuse = (field: string, wrong: string, remedy: string) => never;

/** Refusals in the name of a workload, such as `Deployment kube-apiserver`. */
export function refusalsOf(workload: string): Refuse {
  return (field, wrong, remedy) => {
    throw new NoStaticPodError(`cannot make a static pod of ${workload}: ${field} ${wrong}; ${remedy}`);
  };
}
