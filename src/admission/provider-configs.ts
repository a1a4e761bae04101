import { excessOf, measureJson } from "../json-measure.ts";
import { resources } from "../api/resources.ts";
import type { JsonSchema } from "../api/schema/structural.ts";
import { changedFieldsOf } from "../api/schema/walk.ts";
import { allConfigs, configLimits } from "./limits.ts";
import { judge, type AdmissionRequest, type Cause, type Webhook } from "./review.ts";
import { nameOf, written, writtenBy } from "./unknown-fields.ts";

/**
 * Refuses objects of projects in which a part that is left to a provider is too large, before anything else is asked about them. A
 * part that was there before stays accepted. Cluster-scoped kinds are written by the garden's operators: these are bounded by
 * the size of the request only.
 */
export function createConfigBound(): (webhook: Webhook) => Webhook {
  const schemas = new Map(
    resources.filter(({ scope }) => scope === "Namespaced").map((resource) => [nameOf(resource), writtenBy(resource)]),
  );
  return (webhook) => async (request) => {
    const schema = schemas.get(nameOf(request.kind));
    const causes = schema === undefined ? [] : configCauses(schema, request);
    return causes.length > 0 ? judge(causes) : await webhook(request);
  };
}

function configCauses(
  schema: JsonSchema,
  { object, oldObject }: Pick<AdmissionRequest, "object" | "oldObject">,
): Cause[] {
  const changed = changedFieldsOf(schema, written(object), written(oldObject), "").filter(
    ({ schema: found }) => found !== undefined && isLeftToProvider(found),
  );
  const sizes = changed.map(({ path, value }) => ({
    path: path.slice(1), // begins with a dot, since the object has no name
    size: measureJson(Buffer.from(JSON.stringify(value))),
  }));
  const tooLarge = sizes.flatMap(({ path, size }): Cause[] => {
    const excess = excessOf(size, configLimits);
    return excess === undefined ? [] : [{ field: path, message: `${excess}: ${remedy}` }];
  });
  if (tooLarge.length > 0) return tooLarge;
  const together = sizes.reduce((sum, { size }) => sum + size.bytes, 0);
  if (together <= allConfigs) return [];
  const message = `the parts for providers have ${together} bytes together and may have ${allConfigs}: ${remedy}`;
  return [{ field: "spec", message }];
}

const remedy = "leave out what no provider reads, or keep it in a ConfigMap or Secret that spec.resources names";

/** Nothing is said of what is in it. */
const isLeftToProvider = ({ properties = {}, additionalProperties, items, type }: JsonSchema): boolean =>
  items === undefined &&
  Object.keys(properties).length === 0 &&
  (type === undefined ||
    (type === "object" &&
      (typeof additionalProperties !== "object" || Object.keys(additionalProperties).length === 0)));
