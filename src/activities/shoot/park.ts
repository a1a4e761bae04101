import { ApplicationFailure } from "../temporal.ts";
import { oneLine } from "../../api/summaries.ts";
import type { GardenActivities } from "../index.ts";

/** Fails with what the step waits for: Temporal shows the last failure of an activity that is tried again. */
export const park: GardenActivities["park"] = async ({ reason, codes, remedy }) => {
  throw ApplicationFailure.create({
    message: oneLine(reason, SHOWN_BYTES),
    type: "Parked",
    details: [{ codes, remedy }],
  });
};

/** Temporal forgets a last failure of more than 4 kB, stack and encryption included; the input has all of the reason. */
const SHOWN_BYTES = 1_000;
