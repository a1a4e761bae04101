import { ManagedResource } from "../../api/index.ts";
import { INSTALLATION_LABEL, REGISTRATION_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import { inWords, refOf, Secret, type KubeClient, type ObjectRef } from "../../kube/index.ts";
import { conflictsOf, stronger, type Claim, type Claims } from "./conflicts.ts";
import { InvalidInstallation } from "./invalid.ts";
import { manifestsIn } from "./managed-resource.ts";

/**
 * Throws where an installation's chart has objects that are another installation's, or of another ManagedResource of the seed:
 * both would apply them, the one over the other. The installation's Secrets of manifests are its claim, and have to be written before.
 */
export async function confirmUnclaimed(seedClient: KubeClient, installation: string): Promise<void> {
  // In this order: a Secret that is replaced meanwhile is then found in one of the two.
  const secrets = await seedClient.list(Secret, { namespace: GARDEN_NAMESPACE, labelSelector: INSTALLATION_LABEL });
  const resources = await seedClient.list(ManagedResource, { namespace: GARDEN_NAMESPACE });
  const claims = await claimsOfInstallations(secrets, resources);
  const own = claims.get(installation);
  if (own === undefined) return;
  claims.delete(installation);
  const conflicts = conflictsOf(own, [...claims.values(), ...claimsOfOthers(resources)]);
  if (conflicts.length === 0) return;
  const remedy = "take them out of one of the charts, or delete one of the registrations";
  throw new InvalidInstallation("ObjectsInUse", `the chart has objects of others: ${conflicts.join("; ")}; ${remedy}`);
}

async function claimsOfInstallations(
  secrets: readonly Secret[],
  resources: readonly ManagedResource[],
): Promise<Map<string, Claims>> {
  const applied = new Set(resources.flatMap(({ spec }) => spec.secretRefs.map(({ name }) => name)));
  const objects = new Map<string, Map<string, Claim>>();
  const owners = new Map<string, string>();
  for (const secret of secrets) {
    const { metadata } = secret;
    const { [INSTALLATION_LABEL]: name = "", [REGISTRATION_LABEL]: registration = "" } = metadata.labels ?? {};
    const claim: Claim = { applied: applied.has(metadata.name), version: Number(metadata.resourceVersion) };
    const claimed = objects.get(name) ?? new Map<string, Claim>();
    for (const object of await manifestsIn(secret)) {
      const words = inWordsOfSeed(refOf(object));
      claimed.set(words, stronger(claimed.get(words), claim));
    }
    objects.set(name, claimed);
    owners.set(name, `registration ${registration} (ControllerInstallation ${name})`);
  }
  return new Map([...objects].map(([name, claimed]) => [name, { owner: owners.get(name) ?? name, objects: claimed }]));
}

/** What is in the seed's own ManagedResources has been there before any chart. */
const claimsOfOthers = (resources: readonly ManagedResource[]): readonly Claims[] =>
  resources
    .filter(({ metadata }) => metadata.labels?.[INSTALLATION_LABEL] === undefined)
    .map(({ metadata, status }) => ({
      owner: `ManagedResource ${GARDEN_NAMESPACE}/${metadata.name}`,
      objects: new Map(
        (status?.resources ?? []).map(({ apiVersion = "", kind = "", name = "", namespace = "" }) => [
          inWordsOfSeed({ apiVersion, kind, name, namespace }),
          { applied: true, version: 0 },
        ]),
      ),
    }));

/** The same for the same object, in whatever version a chart has it. Without a namespace, the resource manager takes `default`. */
function inWordsOfSeed({ apiVersion, kind, name, namespace }: ObjectRef): string {
  const [group] = apiVersion.includes("/") ? apiVersion.split("/") : [""];
  const object = { apiVersion, kind, name, ...(namespace && namespace !== "default" && { namespace }) };
  return `${inWords(object)}${group === "" || group === undefined ? "" : ` (${group})`}`;
}
