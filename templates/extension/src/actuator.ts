import type { Cluster, Extension } from "perennial/api";
import { ExtensionError, type Actuator } from "perennial/extension";

/** What a Shoot asks of this extension, in `spec.extensions[].providerConfig`. */
interface Config {
  readonly greeting: string;
}

/** Keeps a ConfigMap beside each control plane that asks for it: put what your extension does in its place. */
export const actuator: Actuator<Extension, Cluster | undefined> = {
  async reconcile(object, cluster, { client, log }) {
    const { greeting } = readConfig(object);
    const shoot = cluster?.spec.shoot.metadata.name ?? "none";
    await client.apply({ ...configMap(object), data: { greeting, shoot } }, { fieldManager: "extension-__NAME__" });
    log.info("greeting written");
  },

  async delete(object, _cluster, { client }) {
    const { apiVersion, kind, metadata } = configMap(object);
    await client.remove({ apiVersion, kind, ...metadata });
  },

  // What lives in this seed only goes with the Shoot; what lives outside it has to stay, because the next seed takes it over.
  migrate: (object, cluster, context) => actuator.delete(object, cluster, context),

  restore: (object, cluster, context) => actuator.reconcile(object, cluster, context),
};

function configMap({ metadata: { name, namespace } }: Extension) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `__NAME__-${name}`, namespace } };
}

function readConfig({ spec: { providerConfig } }: Extension): Config {
  const { greeting = "hello" } = (providerConfig ?? {}) as Record<string, unknown>;
  if (typeof greeting === "string" && greeting !== "") return { greeting };
  throw new ExtensionError("providerConfig.greeting has to be a text", ["ERR_CONFIGURATION_PROBLEM"]);
}
