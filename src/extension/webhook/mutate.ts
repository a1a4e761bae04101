import { isDeepStrictEqual } from "node:util";
import { WEBHOOK_TARGET_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import type { JsonPatchOperation } from "../../kube/index.ts";
import type { ControlPlaneWebhook, MutationContext, Mutator, MutatorName } from "./define.ts";

/**
 * The object as the webhook leaves it; the object itself where it is none of the webhook's. No cluster is needed: it runs
 * against any control plane at hand, such as the golden ones of the project's tests.
 */
export async function mutate<T extends KubeObject>(
  { mutate: mutators }: Pick<ControlPlaneWebhook, "mutate">,
  object: T,
  context: MutationContext = { cluster: undefined },
): Promise<T> {
  const name = mutatorFor(object);
  // The name of a mutator says which kind of object it is given.
  const mutator = name && (mutators[name] as unknown as Mutator<T> | undefined);
  return mutator === undefined ? object : await mutator(object, context);
}

/** Which mutator an object is for, by its kind, its name and what it is for. */
export function mutatorFor({
  kind,
  metadata,
  spec,
}: KubeObject & { readonly spec?: unknown }): MutatorName | undefined {
  const { name = "", labels } = metadata;
  if (kind === "OperatingSystemConfig")
    return (spec as { purpose?: string }).purpose === "reconcile" ? "operating-system-config" : undefined;
  if (kind === "Service") return name === "kube-apiserver" ? "kube-apiserver-service" : undefined;
  if (kind === "StatefulSet") return etcds.find((etcd) => etcd === name);
  const isTarget = kind === "Deployment" && labels?.[WEBHOOK_TARGET_LABEL] === "true";
  return isTarget ? servers.find((server) => server === name) : undefined;
}

/** What turns one object into the other: whole fields of `metadata` and of the object itself, as far as they differ. */
export function differences(before: KubeObject, after: KubeObject): JsonPatchOperation[] {
  const metadata = (["labels", "annotations"] as const).map((field) =>
    change(`/metadata/${field}`, before.metadata[field], after.metadata[field]),
  );
  const fields = ["spec", "data"].map((field) => change(`/${field}`, before[field], after[field]));
  return [...metadata, ...fields].flat();
}

function change(path: string, before: unknown, after: unknown): JsonPatchOperation[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (after === undefined) return [{ op: "remove", path }];
  return [{ op: before === undefined ? "add" : "replace", path, value: after }];
}

const servers = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

const etcds = ["etcd-main", "etcd-events"] as const;
