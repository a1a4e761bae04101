import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";

/** Why schedules say no time: neither start nor end, or in a time zone that there is not. */
export function scheduleCauses({ spec }: Shoot): Cause[] {
  return (spec.hibernation?.schedules ?? []).flatMap(({ start, end, location }, index): Cause[] => {
    const field = `spec.hibernation.schedules[${index}]`;
    const message = `${location} is no time zone: write one such as Europe/Berlin`;
    return [
      ...((start ?? end) ? [] : [{ field, message: "must have a start or an end" }]),
      ...(!location || isTimeZone(location) ? [] : [{ field: `${field}.location`, message }]),
    ];
  });
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
