import { z } from "zod";
import { Shoot, type KubeObject } from "../api/index.ts";
import { resources } from "../api/resources.ts";
import type { Resource } from "../api/schema/resource.ts";
import type { JsonSchema } from "../api/schema/structural.ts";
import { changedFieldsOf, jsonSchemaOf, type FoundField } from "../api/schema/walk.ts";
import { ignoredByKind } from "../api/ignored.ts";
import { annotationWarnings } from "./ignored-annotations.ts";
import type { Answer, Webhook } from "./review.ts";
import { fieldWarnings } from "./shoot/field-warnings.ts";
import { suggestion } from "./text.ts";

/**
 * Adds to what a webhook admits a warning for each unknown field that the request sets or changes: the schemas keep such
 * fields, and nothing acts on them. So it does for known fields on which nothing acts, but for a Shoot's, which its own webhook judges. Kinds
 * that are not in the API are left alone.
 */
export function createFieldWarner(): (webhook: Webhook) => Webhook {
  const schemas = new Map(resources.map((resource) => [nameOf(resource), writtenBy(resource)]));
  return (webhook) => async (request) => {
    const answer = await webhook(request);
    const schema = schemas.get(nameOf(request.kind));
    if (!answer.allowed || schema === undefined) return answer;
    const changed = changedFieldsOf(schema, written(request.object), written(request.oldObject), "").map(withoutDot);
    const ignored = request.kind.kind === Shoot.kind ? {} : ignoredByKind[request.kind.kind];
    return withWarnings(answer, [
      ...unknownFieldWarnings(changed),
      ...fieldWarnings(changed, ignored ?? {}),
      ...annotationWarnings(request.kind.kind, request.object, request.oldObject),
    ]);
  };
}

/** Says of each unknown field that is new or changed in a request's object where it is, and which one may be meant. */
function unknownFieldWarnings(changed: readonly FoundField[]): string[] {
  return changed
    .filter((field) => field.schema === undefined)
    .slice(0, mostNamed)
    .map(({ path, known }) => {
      const name = path.split(".").at(-1) ?? "";
      const meant = suggestion(name, known, path.slice(0, -name.length));
      return `${path.slice(0, 150)}: unknown field${meant}, nothing acts on it`;
    });
}

/** The object has no name, so that what is found in it begins with a dot. */
const withoutDot = (found: FoundField): FoundField => ({
  ...found,
  path: found.path.slice(1),
  field: found.field.slice(1),
});

/** The schema of what users write of a resource: all but its metadata and its status. */
export function writtenBy({ content }: Pick<Resource, "content">): JsonSchema {
  const { status: _, ...written } = content;
  return jsonSchemaOf(z.looseObject(written));
}

/** API servers cut off what is longer than 4 KiB together. */
const mostNamed = 15;

/** What users write of an object: all but the fields that all kinds have, and its status. */
export const written = (object: KubeObject | undefined): object =>
  Object.fromEntries(Object.entries(object ?? {}).filter(([name]) => !common.has(name)));

/** The fields that all kinds have, and the one that users do not write. */
const common: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

/** The name of a kind together with its group. */
export const nameOf = ({ group, kind }: { readonly group: string; readonly kind: string }): string =>
  `${kind}.${group}`;

const withWarnings = (answer: Extract<Answer, { allowed: true }>, warnings: readonly string[]): Answer =>
  warnings.length === 0 ? answer : { ...answer, warnings: [...(answer.warnings ?? []), ...warnings] };
