import { extensionKinds, type ExtensionKind } from "../../api/extensions/kinds.ts";
import type { Shoot } from "../../api/index.ts";
import { servedByLabel } from "../../api/labels.ts";
import { extensionsOf } from "../../api/registration/shoot-extensions.ts";
import type { JsonPatchOperation } from "../../kube/index.ts";
import type { Registrations } from "./registrations.ts";

/**
 * Labels the Shoot with the types of the extensions that serve it, and takes labels of other types away. The admission
 * webhooks of providers select Shoots by these labels (Gardener: plugin ExtensionLabels).
 */
export async function extensionLabelPatch(
  registrations: Registrations,
  { spec, metadata }: Pick<Shoot, "spec" | "metadata">,
): Promise<JsonPatchOperation[]> {
  const registered = await registrations.now();
  const own = Object.entries(metadata.labels ?? {}).filter(([key]) => !isExtensionLabel(key));
  const types = [
    ...Object.entries(groups).flatMap(([kind, group]) => labels(group, typesOf(kind as ExtensionKind, spec))),
    ...labels(
      "extensions",
      extensionsOf({ spec }, registered).map(({ type }) => type),
    ),
  ];
  const wanted = { ...Object.fromEntries(own), ...Object.fromEntries(types) };
  return [{ op: "add", path: "/metadata/labels", value: wanted }];
}

/** The group of a label, by the kind of which it bears the type; kinds that share a provider share its label. */
const groups = {
  Infrastructure: "provider",
  Network: "networking",
  DNSRecord: "dnsrecord",
  OperatingSystemConfig: "operatingsystemconfig",
  ContainerRuntime: "containerruntime",
} as const satisfies Partial<Record<ExtensionKind, string>>;

const typesOf = (kind: ExtensionKind, spec: Shoot["spec"]): readonly string[] =>
  extensionKinds[kind].contract.types({ shoot: { spec }, seed: undefined });

const labels = (group: string, types: readonly string[]) =>
  types.map((type) => [servedByLabel(group, type), "true"] as const);

const isExtensionLabel = (key: string): boolean =>
  [...Object.values(groups), "extensions"].some((group) => key.startsWith(servedByLabel(group, "")));
