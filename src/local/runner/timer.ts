import type { Service } from "../machine/service.ts";
import type { Settings } from "../machine/unit.ts";
import { activeUntil } from "./active.ts";

/** Calls `elapsed` at the start of each day or hour, as OnCalendar= says; throws where that says something else. */
export function runTimer(name: string, settings: Settings, elapsed: () => void): Service {
  const said = settings.last("OnCalendar");
  if (said !== "daily" && said !== "hourly")
    throw new Error(`cannot start ${name}: this machine's runner knows OnCalendar=daily and hourly only`);
  let timer: NodeJS.Timeout;
  const wait = () => {
    timer = setTimeout(
      () => {
        elapsed();
        wait();
      },
      untilNext(said, new Date()),
    );
  };
  wait();
  return activeUntil(() => clearTimeout(timer));
}

/** In ms. */
export function untilNext(period: "daily" | "hourly", now: Date): number {
  const next = new Date(now);
  if (period === "daily") next.setHours(24, 0, 0, 0);
  else next.setHours(now.getHours() + 1, 0, 0, 0);
  return next.getTime() - now.getTime();
}
