import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { INSTALLATION_LABEL, REGISTRATION_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import { ManagedResource } from "../../api/index.ts";
import type { InstallationRun } from "../../api/registration/run.ts";
import { asLabel, hashOf } from "../../api/registration/registered.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { inWords, refOf, refTo, Secret, typeMeta, type ObjectRef } from "../../kube/index.ts";
import { InvalidInstallation } from "./invalid.ts";
import { readManifests, renderManifests } from "./manifests.ts";

/** The ManagedResource of an installation, in the seed. */
export const managedResourceRef = (installation: string): ObjectRef<ManagedResource> =>
  refTo(ManagedResource, { namespace: GARDEN_NAMESPACE, name: installation });

/** Under which a Secret has its manifests: the ending says to the resource manager that they are compressed. */
const MANIFESTS_KEY = "data.yaml.br";

/** What finds the Secrets of an installation's manifests. */
export const manifestsSelector = (installation: string): string => `${INSTALLATION_LABEL}=${installation}`;

/**
 * Objects as upstream's resource manager of class `seed` takes them: compressed, as it allows, and in as many Secrets as they
 * need. The Secrets' names change with what is in them, so that the ManagedResource's generation does, too: what it says of an
 * earlier one is then known for that. Throws where one object alone is too large.
 */
export function managedResourceOf(
  { name, registration }: Pick<InstallationRun, "name" | "registration">,
  objects: readonly KubeObject[],
): { readonly secrets: readonly Secret[]; readonly resource: ManagedResource } {
  const labels = { [INSTALLATION_LABEL]: name, [REGISTRATION_LABEL]: asLabel(registration) };
  const secrets = compressedParts(objects).map((data) => secretOf(name, labels, data));
  const resource: ManagedResource = {
    ...typeMeta(ManagedResource),
    metadata: { namespace: GARDEN_NAMESPACE, name, labels },
    spec: { class: "seed", secretRefs: secrets.map(({ metadata }) => ({ name: metadata.name })) },
  };
  return { secrets, resource };
}

/** The objects in their order, halved until each part fits into a Secret. */
function compressedParts(objects: readonly KubeObject[]): string[] {
  const compressed = compress(renderManifests(objects));
  if (compressed.byteLength <= LARGEST) return [compressed.toString("base64")];
  const [first] = objects;
  if (first !== undefined && objects.length === 1) {
    const what = `${inWords(refOf(first))} has ${inMegabytes(compressed.byteLength)}, compressed`;
    throw new InvalidInstallation("ManifestsTooLarge", `${what}, which does not fit into a Secret (1 MB)`);
  }
  const half = Math.ceil(objects.length / 2);
  return [...compressedParts(objects.slice(0, half)), ...compressedParts(objects.slice(half))];
}

/** Megabytes take tenths of a second: with the quality that is usual, they would stop the worker for ten. */
const compress = (text: string): Buffer =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });

/** The objects in one of an installation's Secrets. */
export async function manifestsIn({ data }: Secret): Promise<readonly KubeObject[]> {
  const compressed = data?.[MANIFESTS_KEY];
  if (compressed === undefined) return [];
  return await readManifests(brotliDecompressSync(Buffer.from(compressed, "base64")).toString());
}

function secretOf(installation: string, labels: Readonly<Record<string, string>>, data: string): Secret {
  const name = `managedresource-${installation}-${hashOf(data).slice(0, 8)}`;
  return {
    ...typeMeta(Secret),
    metadata: { namespace: GARDEN_NAMESPACE, name, labels },
    type: "Opaque",
    immutable: true,
    data: { [MANIFESTS_KEY]: data },
  };
}

/** In bytes: a Secret's limit, less what is in it besides. */
const LARGEST = 1_000_000;

const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
