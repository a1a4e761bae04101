import { isDeepStrictEqual } from "node:util";
import { NamespacedCloudProfile, Project } from "../api/index.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Authorizer } from "./authorizer.ts";
import { judge, type AdmissionRequest, type Webhook } from "./review.ts";

/** A field whose author needs a right besides that to write the object. */
interface Guarded {
  /** Names from `spec` on. */
  readonly path: readonly string[];
  /** The verb on the object that gives the right. */
  readonly verb: string;
}

/** The fields that a kind guards (Gardener: plugin CustomVerbAuthorizer). */
const guards = [
  {
    kind: NamespacedCloudProfile,
    fields: [
      { path: ["kubernetes"], verb: "modify-spec-kubernetes" },
      { path: ["machineImages"], verb: "modify-spec-machineimages" },
      { path: ["providerConfig"], verb: "modify-spec-providerconfig" },
    ],
  },
  { kind: Project, fields: [{ path: ["tolerations", "whitelist"], verb: "modify-spec-tolerations-whitelist" }] },
] satisfies readonly { readonly kind: object; readonly fields: readonly Guarded[] }[];

/** Refuses changes of guarded fields to authors who do not have the verb for them. */
export function createCustomVerbs(authorize: Authorizer): (webhook: Webhook) => Webhook {
  return (webhook) => async (request) => {
    const guard = guards.find(({ kind }) => kind.kind === request.kind.kind && kind.group === request.kind.group);
    if (guard === undefined) return await webhook(request);
    const { kind, fields } = guard;
    const { namespace = "", name = "", userInfo } = request;
    const refused: Guarded[] = [];
    for (const field of fields.filter(({ path }) => isChanged(path, request))) {
      const access = { group: kind.group, resource: kind.plural, verb: field.verb, namespace, name };
      if (!(await authorize(userInfo, access))) refused.push(field);
    }
    if (refused.length === 0) return await webhook(request);
    return judge(
      refused.map(({ path, verb }) => ({
        field: ["spec", ...path].join("."),
        message: `cannot be changed without the right to ${verb} of ${kind.plural}: ask an operator for the change or for the right`,
        forbidden: true,
      })),
    );
  };
}

const isChanged = (path: readonly string[], { object, oldObject }: AdmissionRequest): boolean =>
  object !== undefined && !isDeepStrictEqual(valueAt(object, path), valueAt(oldObject, path));

function valueAt(object: KubeObject | undefined, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Readonly<Record<string, unknown>> | undefined | null)?.[step],
    object?.["spec"],
  );
}
