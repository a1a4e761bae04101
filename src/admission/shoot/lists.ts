import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";

/** Why the Shoot's lists of names cannot be as they are. */
export function listCauses({ spec }: Shoot): Cause[] {
  const types = spec.extensions?.map(({ type }) => type);
  const resources = spec.resources?.map(({ name }) => name);
  const tolerations = spec.tolerations?.map(({ key, value }) => (value === undefined ? key : `${key}=${value}`));
  const restrictions = spec.accessRestrictions?.map(({ name }) => name);
  return [
    ...twiceCauses(types, (index) => `spec.extensions[${index}].type`),
    ...twiceCauses(resources, (index) => `spec.resources[${index}].name`),
    ...twiceCauses(tolerations, (index) => `spec.tolerations[${index}]`),
    ...twiceCauses(restrictions, (index) => `spec.accessRestrictions[${index}].name`),
    ...selectorCauses(spec.seedSelector),
  ];
}

/** A cause for each text of a list that is there before. */
export function twiceCauses(list: readonly string[] = [], fieldAt: (index: number) => string): Cause[] {
  const seen = new Set<string>();
  return list.flatMap((text, index) => {
    const causes = seen.has(text) ? [{ field: fieldAt(index), message: `${text} is named twice` }] : [];
    seen.add(text);
    return causes;
  });
}

function selectorCauses(selector: Shoot["spec"]["seedSelector"]): Cause[] {
  return (selector?.matchExpressions ?? []).flatMap(({ operator, values = [] }, index): Cause[] => {
    const field = `spec.seedSelector.matchExpressions[${index}].values`;
    const needed = operator === "In" || operator === "NotIn";
    if (needed === values.length > 0) return [];
    return [{ field, message: needed ? `must be set with ${operator}` : `must not be set with ${operator}` }];
  });
}
