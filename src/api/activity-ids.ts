/** The ids of a step's activities: `<step>/…`, so that the step of any id in a history is what stands before the slash. */

/** The activity that acts. */
export const applyId = (step: string): string => `${step}/apply`;

/** The activity that waits for what the step has changed, be it one object or a hundred. */
export const waitId = (step: string): string => `${step}/wait`;

/** The activity that verifies and records what a step has made. */
export const verifyId = (step: string): string => `${step}/verify`;

/** The activity that says why a wait is late. */
export const explainId = (wait: string): string => `${wait}/explain`;

/** The step of an activity's id; undefined for activities that belong to no step. */
export const stepOfActivity = (id: string): string | undefined => (id.includes("/") ? id.split("/")[0] : undefined);
