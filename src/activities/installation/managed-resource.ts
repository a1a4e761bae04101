import { brotliCompressSync } from "node:zlib";
import { INSTALLATION_LABEL, REGISTRATION_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import { ManagedResource } from "../../api/index.ts";
import type { InstallationRun } from "../../api/registration/run.ts";
import { hashOf } from "../../api/registration/registered.ts";
import { refTo, Secret, typeMeta, type ObjectRef } from "../../kube/index.ts";
import { InvalidInstallation } from "./invalid.ts";

/** The ManagedResource of an installation, in the seed. */
export const managedResourceRef = (installation: string): ObjectRef<ManagedResource> =>
  refTo(ManagedResource, { namespace: GARDEN_NAMESPACE, name: installation });

/** What finds the Secrets of an installation's manifests. */
export const manifestsSelector = (installation: string): string => `${INSTALLATION_LABEL}=${installation}`;

/**
 * Manifests as upstream's resource manager of class `seed` takes them. Their Secret's name changes with them, so that the
 * ManagedResource's generation does, too: what it says of an earlier one is then known for that. They are compressed, as
 * it allows. Throws where they are too large even so.
 */
export function managedResourceOf(run: InstallationRun, manifests: string): readonly [Secret, ManagedResource] {
  const { name, registration } = run;
  const labels = { [INSTALLATION_LABEL]: name, [REGISTRATION_LABEL]: registration };
  const compressed = brotliCompressSync(manifests);
  if (compressed.byteLength > LARGEST) {
    const sizes = `${inMegabytes(manifests.length)} of manifests, ${inMegabytes(compressed.byteLength)} compressed`;
    throw new InvalidInstallation("ManifestsTooLarge", `${sizes}, do not fit into a Secret (1 MB): split the chart`);
  }
  const secret: Secret = {
    ...typeMeta(Secret),
    metadata: { namespace: GARDEN_NAMESPACE, name: `managedresource-${name}-${hashOf(manifests).slice(0, 8)}`, labels },
    type: "Opaque",
    immutable: true,
    data: { "data.yaml.br": compressed.toString("base64") },
  };
  const resource: ManagedResource = {
    ...typeMeta(ManagedResource),
    metadata: { namespace: GARDEN_NAMESPACE, name, labels },
    spec: { class: "seed", secretRefs: [{ name: secret.metadata.name }] },
  };
  return [secret, resource];
}

/** In bytes: a Secret's limit, less what is in it besides. */
const LARGEST = 1_000_000;

const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
