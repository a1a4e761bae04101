import { z } from "zod";
import { object, onceSet } from "../schema/fields.ts";

const failureTolerance = object({
  type: z
    .enum(["node", "zone"])
    .describe("Type specifies the type of failure that the highly available resource can tolerate"),
}).meta(onceSet("type"));

/** HighAvailability specifies the configuration settings for high availability for a resource. */
export const highAvailability = object({
  failureTolerance: failureTolerance.describe(
    "FailureTolerance holds information about failure tolerance level of a highly available resource.",
  ),
});

/** Gardener holds the information about the Gardener version that operated a resource. */
export const gardener = object({
  id: z.string().describe("ID is the container id of the Gardener which last acted on a resource."),
  name: z.string().describe("Name is the hostname (pod name) of the Gardener which last acted on a resource."),
  version: z.string().describe("Version is the version of the Gardener which last acted on a resource."),
});
