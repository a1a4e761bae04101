import type { Cluster, DNSRecord } from "../../src/api/index.ts";
import { ExtensionError, type Actuator, type KubeClient } from "../../src/extension/index.ts";

/** A DNS provider that keeps names in the ConfigMap kube-system/hosts, one key per record. */
export const hosts: Actuator<DNSRecord, Cluster | undefined> = {
  async reconcile(object, cluster, { client, log }) {
    const { name, recordType, values } = object.spec;
    if (recordType !== "A") {
      throw new ExtensionError(`a hosts file has no ${recordType} records`, ["ERR_CONFIGURATION_PROBLEM"]);
    }
    await writeEntry(client, object, { [name]: values.map((address) => `${address} ${name}\n`).join("") });
    log.info({ dnsName: name, shoot: cluster?.spec.shoot.metadata.name }, "name written");
    return { status: { zone: "hosts" } };
  },

  async delete(object, _cluster, { client }) {
    await writeEntry(client, object, {});
  },

  // The name must go on working while its Shoot moves, so it stays.
  async migrate() {},

  // All that is needed to take over stands in the spec.
  restore: (object, cluster, context) => hosts.reconcile(object, cluster, context),
};

/** Each record owns its own key of the ConfigMap: applying without the key removes it and touches no other. */
async function writeEntry(client: KubeClient, { metadata }: DNSRecord, data: Record<string, string>): Promise<void> {
  const fieldManager = `hosts-${metadata.uid}`;
  const configMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "hosts", namespace: "kube-system" },
    data,
  };
  await client.apply(configMap, { fieldManager });
}
