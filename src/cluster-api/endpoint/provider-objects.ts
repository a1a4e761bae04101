import type { Cluster, ContractReference } from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { defineKind, type KubeClient } from "../../kube/index.ts";
import type { EndpointField } from "./value.ts";

/** An infrastructure or a control plane, of whatever kind: its endpoint, as far as its kind has that field. */
export interface ProviderObject extends KubeObject {
  readonly spec?: { readonly controlPlaneEndpoint?: EndpointField };
}

/** What a Cluster names, as far as it exists. */
export interface ProviderPair {
  readonly infrastructure?: ProviderObject;
  readonly controlPlane?: ProviderObject;
}

/** Reads the objects that Clusters name by group and kind only. */
export interface ProviderReader {
  read(cluster: Cluster): Promise<ProviderPair>;
}

/** A reader that asks the server once for the version of each kind, and again for a kind that it has not seen. */
export function createProviderReader(client: KubeClient): ProviderReader {
  const versions = new Map<string, string>();

  async function versionOf({ apiGroup, kind }: ContractReference): Promise<string | undefined> {
    const key = `${apiGroup}/${kind}`;
    if (!versions.has(key))
      for (const type of await client.types())
        versions.set(`${type.apiVersion.split("/")[0]}/${type.kind}`, type.apiVersion);
    return versions.get(key);
  }

  /** Undefined while it does not exist, or its kind does not. */
  async function readOne(ref: ContractReference | undefined, namespace: string): Promise<ProviderObject | undefined> {
    const apiVersion = ref && (await versionOf(ref));
    if (ref === undefined || apiVersion === undefined) return undefined;
    return await client.read(defineKind<ProviderObject>({ apiVersion, kind: ref.kind, scope: "Namespaced" }), {
      namespace,
      name: ref.name,
    });
  }

  return {
    async read({ spec, metadata: { namespace } }) {
      const [infrastructure, controlPlane] = await Promise.all(
        [spec.infrastructureRef, spec.controlPlaneRef].map((ref) => readOne(ref, namespace)),
      );
      return { ...(infrastructure && { infrastructure }), ...(controlPlane && { controlPlane }) };
    },
  };
}
