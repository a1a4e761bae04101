import type { KubeClient, ObjectRef } from "../../kube/index.ts";
import type { Configuration } from "./configuration.ts";

/** The configuration's folder as the garden that it stands for, as far as single objects are read of it. */
export function gardenOf({ objects }: Pick<Configuration, "objects">): Pick<KubeClient, "read"> {
  const read = async (type: ObjectRef, key: { readonly name: string; readonly namespace?: string } = type) =>
    await Promise.resolve(
      objects.find(
        ({ apiVersion, kind, metadata }) =>
          apiVersion === type.apiVersion &&
          kind === type.kind &&
          metadata.name === key.name &&
          metadata.namespace === key.namespace,
      ),
    );
  return { read } as Pick<KubeClient, "read">;
}
