/** The ids of a step's activities: `<step>/…`, so that the step of any id in a history is what stands before the slash. */

/** The activity that acts. */
export const applyId = (step: string): string => `${step}/apply`;

/** The activity that waits for what the step has changed, be it one object or a hundred. */
export const waitId = (step: string): string => `${step}/wait`;

/** The activity that verifies and records what a step has made. */
export const verifyId = (step: string): string => `${step}/verify`;

/** The activity that says why a wait is late. */
export const explainId = (wait: string): string => `${wait}/explain`;

/** The activity that is open until the silent worker of a step's seed answers. */
export const answerId = (step: string): string => `${step}/answer`;

/** The activity that is open while a step is parked. */
export const parkedId = (step: string): string => `${step}/parked`;

/** The step of an activity's id; undefined for activities that belong to no step. */
export const stepOfActivity = (id: string): string | undefined => (id.includes("/") ? id.split("/")[0] : undefined);
