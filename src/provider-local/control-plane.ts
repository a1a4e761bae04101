import type { ControlPlane } from "../api/index.ts";
import type { Actuator } from "../extension/index.ts";
import { ConfigMap, refTo } from "../kube/index.ts";
import type { Environment } from "../local/environment/environment.ts";

/** The provider's part of a control plane: no controllers, but their configuration, a ConfigMap `cloud-provider-config`. */
export function createControlPlaneActuator(environment: Environment): Actuator<ControlPlane> {
  const refOf = ({ metadata }: ControlPlane) =>
    refTo(ConfigMap, { namespace: metadata.namespace, name: "cloud-provider-config" });
  const reconcile: Actuator<ControlPlane>["reconcile"] = async (object, _cluster, { client }) => {
    const { apiVersion, kind, name, namespace } = refOf(object);
    const { network, domain } = environment;
    const config = { environment: environment.name, region: object.spec.region, network, domain };
    const data = { "cloudprovider.conf": JSON.stringify(config) };
    const applied = { apiVersion, kind, metadata: { name, namespace }, data };
    await client.apply(applied, { fieldManager: "provider-local" });
  };
  const remove: Actuator<ControlPlane>["delete"] = (object, _cluster, { client }) => client.remove(refOf(object));
  return { reconcile, restore: reconcile, migrate: remove, delete: remove };
}
