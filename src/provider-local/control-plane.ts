import type { ControlPlane } from "../api/index.ts";
import type { Actuator } from "../extension/index.ts";
import { ConfigMap, refTo } from "../kube/index.ts";

/**
 * The provider's part of a control plane: no controllers, but their configuration, a ConfigMap `cloud-provider-config`, with what
 * there is to say of the place beside the region.
 */
export function createControlPlaneActuator(place: Readonly<Record<string, string>>): Actuator<ControlPlane> {
  const refOf = ({ metadata }: ControlPlane) =>
    refTo(ConfigMap, { namespace: metadata.namespace, name: "cloud-provider-config" });
  const reconcile: Actuator<ControlPlane>["reconcile"] = async (object, _cluster, { client }) => {
    const { apiVersion, kind, name, namespace } = refOf(object);
    const data = { "cloudprovider.conf": JSON.stringify({ region: object.spec.region, ...place }) };
    const applied = { apiVersion, kind, metadata: { name, namespace }, data };
    await client.apply(applied, { fieldManager: "provider-local" });
  };
  const remove: Actuator<ControlPlane>["delete"] = (object, _cluster, { client }) => client.remove(refOf(object));
  return { reconcile, restore: reconcile, migrate: remove, delete: remove };
}
