import type { ConfiguredObject } from "./documents.ts";
import { createFault, nameOf, type Fault } from "./fault.ts";
import { configuredKinds, type ConfiguredKind } from "./kinds.ts";

/** What is missing, stands there twice, or is more than a configuration may have. */
export function countFaults(objects: readonly ConfiguredObject[]): Fault[] {
  return [...duplicateFaults(objects), ...configuredKinds.flatMap((kind) => numberFaults(kind, objects))];
}

function duplicateFaults(objects: readonly ConfiguredObject[]): Fault[] {
  const first = new Map<string, string>();
  const faults: Fault[] = [];
  for (const { file, object } of objects) {
    const called = nameOf(object);
    const before = first.get(called);
    if (before === undefined) first.set(called, file);
    else faults.push(createFault({ file, object: called }, `stands in ${before} already: keep one of the two`));
  }
  return faults;
}

function numberFaults({ kind, apiVersion, count }: ConfiguredKind, objects: readonly ConfiguredObject[]): Fault[] {
  const found = new Map(
    objects.filter(({ object }) => object.kind === kind).map((one) => [nameOf(one.object), one] as const),
  );
  if (count === "one" && found.size === 0)
    return [createFault({}, `no document is a ${kind} of ${apiVersion}: add exactly one`)];
  if (count === "any" || found.size <= 1) return [];
  const [kept = "", ...others] = found.keys();
  return others.map((called) =>
    createFault(
      { file: found.get(called)?.file ?? "", object: called },
      `is one ${kind} too many, beside ${kept}: keep the one of this cluster`,
    ),
  );
}
