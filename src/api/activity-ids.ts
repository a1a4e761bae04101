/** The ids of a step's activities: `<step>/…`, so that the step of any id in a history is what stands before the slash. */

/** The activity that acts. */
export const applyId = (step: string): string => `${step}/apply`;

/** The activity that waits for an object; without a name where the step waits for one thing only. */
export const waitId = (step: string, object?: string): string =>
  object === undefined ? `${step}/wait` : `${step}/wait/${object}`;

/** The activity that verifies and records what a step has made. */
export const verifyId = (step: string): string => `${step}/verify`;

/** The activity that says why a wait is late. */
export const explainId = (wait: string): string => `${wait}/explain`;

/** The step of an activity's id; undefined for activities that belong to no step. */
export const stepOfActivity = (id: string): string | undefined => (id.includes("/") ? id.split("/")[0] : undefined);
