import type { OperatingSystemConfig } from "../../api/index.ts";
import { ExtensionError, readSecret, type Actuator } from "../../extension/index.ts";
import { refTo, Secret } from "../../kube/index.ts";
import { renderUserData } from "./user-data.ts";
import type { Additions } from "./kubelet.ts";

/**
 * The local operating system: what a machine boots with is written to the Secret `osc-result-<name>`, key
 * `cloud_config`. What a running machine is told later differs in `additionsOf`: what a kubelet without systemd needs, and
 * nothing on machines with one.
 */
export function createOperatingSystemConfigActuator(
  additionsOf: (spec: OperatingSystemConfig["spec"]) => Additions,
): Actuator<OperatingSystemConfig> {
  const resultOf = ({ metadata: { name, namespace } }: OperatingSystemConfig) => ({
    name: `osc-result-${name}`,
    namespace,
  });

  const reconcile: Actuator<OperatingSystemConfig>["reconcile"] = async (object, _cluster, { client }) => {
    if (object.spec.purpose === "reconcile") return { status: additionsOf(object.spec) };
    const { namespace } = object.metadata;
    const userData = await renderUserData(object.spec, async (name, key) => {
      const value = (await readSecret(client, { name, namespace }))[key];
      if (value !== undefined) return value;
      throw new ExtensionError(`cannot read Secret ${namespace}/${name}: it has no key ${key}`, [
        "ERR_CONFIGURATION_PROBLEM",
      ]);
    });
    const metadata = resultOf(object);
    const data = { cloud_config: Buffer.from(JSON.stringify(userData)).toString("base64") };
    await client.apply({ apiVersion: "v1", kind: "Secret", metadata, data }, { fieldManager: "provider-local" });
    return { status: { cloudConfig: { secretRef: metadata } } };
  };

  const remove: Actuator<OperatingSystemConfig>["delete"] = (object, _cluster, { client }) =>
    client.remove(refTo(Secret, resultOf(object)));

  return { reconcile, restore: reconcile, migrate: async () => undefined, delete: remove };
}
