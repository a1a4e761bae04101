import type { Service, ServiceState } from "../machine/service.ts";

/** A unit that is active until it is stopped. */
export function activeUntil(stop: () => void): Service {
  let state: ServiceState = { active: "active", sub: "running", activeSince: performance.now() };
  return {
    started: Promise.resolve(),
    get state() {
      return state;
    },
    async stop() {
      stop();
      state = { active: "inactive", sub: "dead" };
      await Promise.resolve();
    },
  };
}
