import { runtimeLabel } from "../../api/labels.ts";
import { ContainerRuntime } from "../../api/index.ts";
import type { Actuator } from "../../extension/index.ts";
import type { ShootAccess } from "../shoot-access.ts";

/**
 * A container runtime that machines have already: runc, under a RuntimeClass of the type's name that sends pods to the pools
 * which ask for it. The pools of a Shoot share the RuntimeClass; the last one takes it away.
 */
export function createContainerRuntimeActuator(shoots: ShootAccess): Actuator<ContainerRuntime> {
  const reconcile: Actuator<ContainerRuntime>["reconcile"] = async ({ metadata, spec: { type } }, cluster) => {
    if (cluster.spec.shoot.spec.hibernation?.enabled === true) return;
    const shoot = await shoots.open(metadata.namespace);
    await shoot.apply(
      {
        ...runtimeClass,
        metadata: { name: type },
        handler: "runc",
        scheduling: { nodeSelector: { [runtimeLabel(type)]: "true" } },
      },
      { fieldManager: "provider-local" },
    );
  };
  const remove: Actuator<ContainerRuntime>["delete"] = async ({ metadata, spec: { type } }, _cluster, { client }) => {
    const all = await client.list(ContainerRuntime, { namespace: metadata.namespace });
    const others = all.filter(
      (one) =>
        one.spec.type === type && one.metadata.uid !== metadata.uid && one.metadata.deletionTimestamp === undefined,
    );
    if (others.length > 0) return;
    await (await shoots.open(metadata.namespace)).remove({ ...runtimeClass, name: type });
  };
  return {
    reconcile,
    restore: reconcile,
    delete: remove,
    // The API server may be gone, and with it the RuntimeClass.
    forceDelete: () => Promise.resolve(),
    migrate: () => Promise.resolve(),
  };
}

const runtimeClass = { apiVersion: "node.k8s.io/v1", kind: "RuntimeClass" };
