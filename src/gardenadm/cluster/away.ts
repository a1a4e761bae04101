import { KubeError } from "../../kube/errors.ts";
import type { Logger } from "../../log.ts";

/** Whether no API server has answered, or one that has no etcd; a webhook that fails is another matter (500). The heartbeat says so once, and nothing else does. */
export const isAway = (error: unknown): boolean =>
  error instanceof KubeError && (error.status === 0 || error.status > 500);

/** A logger for watches, whose interruptions are the API server's. */
export const quiet = (log: Logger): Logger => log.child({}, { level: "error" });
