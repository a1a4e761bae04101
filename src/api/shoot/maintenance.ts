import { z } from "zod";
import { cron, timeOfDay, timeZone } from "../schema/syntax.ts";
import { object, raw } from "../schema/fields.ts";

const maintenanceAutoUpdate = object({
  kubernetesVersion: z
    .boolean()
    .describe(
      "KubernetesVersion indicates whether the patch Kubernetes version may be automatically updated (default: true).",
    ),
  machineImageVersion: z
    .boolean()
    .optional()
    .describe(
      "MachineImageVersion indicates whether the machine image version may be automatically updated (default: true).",
    ),
});

const maintenanceTimeWindow = object({
  begin: timeOfDay().describe(
    "Begin is the beginning of the time window in the format HHMMSS±ZONE, e.g. '220000+0100' or '220000-0500'.",
  ),
  end: timeOfDay().describe(
    "End is the end of the time window in the format HHMMSS±ZONE, e.g. '220000+0100' or '220000-0500'.",
  ),
});

/** Maintenance contains information about the time window for maintenance operations and which operations should be performed. */
export const maintenance = object({
  autoUpdate: maintenanceAutoUpdate
    .optional()
    .describe("AutoUpdate contains information about which constraints should be automatically updated."),
  timeWindow: maintenanceTimeWindow
    .optional()
    .describe("TimeWindow contains information about the time window for maintenance operations."),
  confineSpecUpdateRollout: z
    .boolean()
    .optional()
    .describe(
      "ConfineSpecUpdateRollout prevents that changes/updates to the shoot specification will be rolled out immediately.",
    ),
  autoRotation: raw()
    .optional()
    .describe("AutoRotation contains information about which rotations should be automatically performed."),
});

const hibernationSchedule = object({
  start: cron().optional().describe("Start is a Cron spec at which time a Shoot will be hibernated."),
  end: cron().optional().describe("End is a Cron spec at which time a Shoot will be woken up."),
  location: timeZone().optional().describe("Location is the time location in which both start and shall be evaluated."),
});

/** Hibernation contains information whether the Shoot is suspended or not. */
export const hibernation = object({
  enabled: z.boolean().optional().describe("Enabled specifies whether the Shoot needs to be hibernated or not."),
  schedules: z
    .array(hibernationSchedule)
    .meta({ maxItems: 100 })
    .optional()
    .describe("Schedules determine the hibernation schedules."),
});
