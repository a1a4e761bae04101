import type { KubeObject } from "../schema/meta.ts";
import type { Shoot } from "./shoot.ts";

/** What an object names in a namespace, and where it does. */
export interface Reference {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The path of the field that names it. */
  readonly field: string;
  /** Whether nothing comes of the Shoot without it. */
  readonly isRequired: boolean;
}

/** A reference as fields write it. */
export interface Named {
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** The Secrets, ConfigMaps and credentials that a Shoot names itself, each once; bindings and profile left out. */
export function referencesOfShoot({
  spec,
  metadata: { namespace },
}: Pick<Shoot, "spec" | "metadata">): readonly Reference[] {
  const found = [
    ...(spec.resources ?? []).map(({ resourceRef }, index) =>
      optional(`spec.resources[${index}].resourceRef`, resourceRef),
    ),
    ...referencesOfApiServer(spec),
    ...(spec.dns?.providers ?? []).flatMap(({ secretName: name, credentialsRef = {} }, index) => [
      required(`spec.dns.providers[${index}].secretName`, { name }),
      required(`spec.dns.providers[${index}].credentialsRef`, credentialsRef),
    ]),
    ...(spec.provider.workers ?? []).map(({ controlPlane }, index) => {
      const field = `spec.provider.workers[${index}].controlPlane.backup.credentialsRef`;
      return required(field, controlPlane?.backup?.credentialsRef ?? {});
    }),
  ];
  return unique(found.flatMap((one) => one(namespace)));
}

function referencesOfApiServer({ kubernetes: { kubeAPIServer } }: Shoot["spec"]): readonly Incomplete[] {
  const { auditConfig, structuredAuthentication, structuredAuthorization, admissionPlugins = [] } = kubeAPIServer ?? {};
  const at = "spec.kubernetes.kubeAPIServer";
  const configMaps = {
    "auditConfig.auditPolicy.configMapRef.name": auditConfig?.auditPolicy?.configMapRef?.name,
    "structuredAuthentication.configMapName": structuredAuthentication?.configMapName,
    "structuredAuthorization.configMapName": structuredAuthorization?.configMapName,
  };
  return [
    ...Object.entries(configMaps).map(([field, name]) => optional(`${at}.${field}`, { kind: "ConfigMap", name })),
    ...(structuredAuthorization?.kubeconfigs ?? []).map(({ secretName: name }, index) =>
      optional(`${at}.structuredAuthorization.kubeconfigs[${index}].secretName`, { name }),
    ),
    ...admissionPlugins.map(({ kubeconfigSecretName: name }, index) =>
      optional(`${at}.admissionPlugins[${index}].kubeconfigSecretName`, { name }),
    ),
  ];
}

/** What another object names, in its own namespace unless it says another. */
export const referenceOf = ({ metadata }: KubeObject, field: string, named: Named): readonly Reference[] =>
  required(field, named)(metadata.namespace ?? "");

type Incomplete = (namespace: string) => readonly Reference[];

const optional = (field: string, named: Named): Incomplete => complete(field, named, false);

const required = (field: string, named: Named): Incomplete => complete(field, named, true);

function complete(field: string, { kind = "Secret", name, ...named }: Named, isRequired: boolean): Incomplete {
  return (namespace) =>
    name ? [{ kind, name, namespace: named.namespace ? named.namespace : namespace, field, isRequired }] : [];
}

/** One that is named twice is required where one of both requires it. */
function unique(references: readonly Reference[]): readonly Reference[] {
  const found = new Map<string, Reference>();
  for (const reference of [...references].sort((one, other) => Number(other.isRequired) - Number(one.isRequired))) {
    const key = `${reference.kind}/${reference.namespace}/${reference.name}`;
    if (!found.has(key)) found.set(key, reference);
  }
  return [...found.values()];
}
