import { isDeepStrictEqual } from "node:util";
import { ControllerDeployment, ControllerRegistration } from "../api/index.ts";
import { readDeployment, readInlineDeployment, type DeploymentReading } from "../api/registration/deployment.ts";
import { extensionKinds } from "../api/extensions/kinds.ts";
import type { KubeClient } from "../kube/index.ts";
import { judge, type Cause, type Webhook } from "./review.ts";
import { KnownRegistration } from "./watched/known.ts";
import { shorten, suggestion } from "./text.ts";

/**
 * Judges ControllerRegistrations: their resources are of extension kinds, at most one is primary for each pair of kind and
 * type, its deployment exists, and its spec stays as it is while it is being deleted.
 */
export function createControllerRegistrationValidator({ client }: { client: KubeClient }): Webhook {
  return async ({ object, oldObject }) => {
    const registration = ControllerRegistration.parse(object);
    const specChanged = !isDeepStrictEqual(registration.spec, oldObject?.["spec"]);
    if (!specChanged) return judge([]);
    if (registration.metadata.deletionTimestamp !== undefined) {
      return judge([{ field: "spec", message: "cannot be changed while it is being deleted", forbidden: true }]);
    }
    const causes = await Promise.all([primaryCauses(client, registration), deploymentCauses(client, registration)]);
    const kinds = kindCauses(registration, oldObject && ControllerRegistration.parse(oldObject));
    return judge([...kinds, ...inlineCauses(registration), ...causes.flat()]);
  };
}

/** Judges ControllerDeployments, of whichever version: they name a chart. What was there before may be changed bit by bit. */
export const judgeControllerDeployment: Webhook = async ({ object, oldObject }) => {
  const causesOf = (one: object) =>
    problemOf(
      readDeployment(ControllerDeployment.parse({ ...one, apiVersion: ControllerDeployment.apiVersion })),
      "helm",
    );
  const before = oldObject === undefined ? [] : causesOf(oldObject);
  return judge(causesOf(object ?? {}).filter((cause) => !before.some((one) => isDeepStrictEqual(one, cause))));
};

/** Why a resource is of no kind that extensions have; what a registration had before it may keep. */
function kindCauses({ spec }: ControllerRegistration, old?: ControllerRegistration): Cause[] {
  const known = new Set([...Object.keys(extensionKinds), ...(old?.spec.resources ?? []).map(({ kind }) => kind)]);
  return (spec.resources ?? []).flatMap(({ kind }, index) => {
    if (known.has(kind)) return [];
    const meant = suggestion(kind, Object.keys(extensionKinds));
    const message = `${shorten(kind)} is no kind of extension${meant}: choose one of ${Object.keys(extensionKinds).join(", ")}`;
    return [{ field: `spec.resources[${index}].kind`, message }];
  });
}

function inlineCauses(registration: ControllerRegistration): Cause[] {
  const { deployment } = registration.spec;
  if (deployment?.type === undefined) return [];
  return problemOf(readInlineDeployment(registration), "spec.deployment");
}

const problemOf = (reading: DeploymentReading, field: string): Cause[] =>
  reading.is === "invalid" ? [{ field, message: reading.problem }] : [];

async function primaryCauses(client: KubeClient, registration: ControllerRegistration): Promise<Cause[]> {
  const all = await client.list(KnownRegistration);
  const owners = new Map(
    all
      .filter(({ metadata }) => metadata.name !== registration.metadata.name)
      .flatMap((other) => primaries(other).map(({ key }) => [key, other.metadata.name] as const)),
  );
  return primaries(registration).flatMap(({ key, index, resource }) => {
    const owner = owners.get(key);
    if (owner === undefined) return [];
    const message = `ControllerRegistration ${owner} is primary for ${resource.kind} of type ${resource.type}: set it to false here`;
    return [{ field: `spec.resources[${index}].primary`, message }];
  });
}

/** Keyed by kind and type together: several types of one kind each have an owner of their own. */
function primaries({ spec }: ControllerRegistration) {
  return (spec.resources ?? [])
    .map((resource, index) => ({ resource, index, key: JSON.stringify([resource.kind, resource.type]) }))
    .filter(({ resource }) => resource.primary !== false);
}

async function deploymentCauses(client: KubeClient, { spec }: ControllerRegistration): Promise<Cause[]> {
  const causes = (spec.deployment?.deploymentRefs ?? []).map(async ({ name }, index): Promise<Cause[]> => {
    if (await client.read(ControllerDeployment, { name })) return [];
    const message = `there is no ControllerDeployment ${name}: create it first`;
    return [{ field: `spec.deployment.deploymentRefs[${index}].name`, message }];
  });
  return (await Promise.all(causes)).flat();
}
