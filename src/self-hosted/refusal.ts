/** The workload that is refused. */
export interface RefusedWorkload {
  readonly kind: string;
  readonly name: string;
}

/** What of a workload no static pod can have. The message names workload, field and remedy, and quotes no value of a Secret. */
export class NoStaticPodError extends Error {
  override readonly name = "NoStaticPodError";
  readonly workload: RefusedWorkload;

  constructor(workload: RefusedWorkload, why: string) {
    super(`cannot make a static pod of ${workload.kind} ${workload.name}: ${why}`);
    this.workload = workload;
  }
}

/** Ends a translation: what is wrong, at which field, and what helps. */
export type Refuse = (field: string, wrong: string, remedy: string) => never;

/** Refusals in the name of a workload. */
export function refusalsOf(workload: RefusedWorkload): Refuse {
  return (field, wrong, remedy) => {
    throw new NoStaticPodError(workload, `${field} ${wrong}; ${remedy}`);
  };
}
