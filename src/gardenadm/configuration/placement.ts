import { isDeepStrictEqual } from "node:util";
import { CloudProfile } from "../../api/core/cloud-profile.ts";
import { ControllerDeployment } from "../../api/core/controller-deployment.ts";
import { ControllerRegistration } from "../../api/core/controller-registration.ts";
import { CredentialsBinding } from "../../api/core/credentials-binding.ts";
import { profileReference } from "../../api/core/effective-profile.ts";
import { NamespacedCloudProfile } from "../../api/core/namespaced-cloud-profile.ts";
import type { Project } from "../../api/core/project.ts";
import { SecretBinding } from "../../api/core/secret-binding.ts";
import { primaryDnsProvider } from "../../api/shoot/dns-provider.ts";
import { controlPlanePools, isSelfHosted } from "../../api/shoot/self-hosted.ts";
import { networkCauses } from "../../admission/shoot/networks.ts";
import { ruleCauses } from "../../admission/shoot/rules.ts";
import { unsupportedCauses } from "../../admission/shoot/unsupported.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import { exposureOf, isInDns } from "../../components/index.ts";
import { offersFor } from "./registrations.ts";
import type { ConfiguredObject } from "./documents.ts";
import { createFault, nameOf, type Fault } from "./fault.ts";

/** The objects of a configuration that are there once each. */
export interface Centre {
  readonly shoot: Shoot;
  readonly cloudProfile: CloudProfile;
  readonly project: Project;
}

/** Where objects name each other, and the named one is not there or another one. */
export function placeFaults(centre: Centre, objects: readonly ConfiguredObject[]): Fault[] {
  const { shoot, project } = centre;
  const fileOf = (object: object): string => objects.find((one) => one.object === object)?.file ?? "";
  const shootFile = objects.find(({ object }) => object.kind === Shoot.kind)?.file ?? "";
  const ruled = [
    ...networkCauses({ shoot, old: undefined, seed: undefined }),
    ...ruleCauses({ shoot, old: undefined }),
    ...unsupportedCauses(shoot, undefined),
  ];
  const wrong = [
    ...shootWrongs(centre, objects),
    ...bindingWrongs(shoot, objects),
    ...backupWrongs(shoot, objects),
    ...exposureWrongs(shoot, objects),
    ...dnsWrongs(shoot, objects),
    ...ruled,
  ].map(({ field, message }) => createFault({ file: shootFile, object: nameOf(shoot), field }, message));
  const projectNamespace = project.spec.namespace;
  if (projectNamespace !== undefined && projectNamespace !== shoot.metadata.namespace) {
    const file = objects.find(({ object }) => object.kind === "Project")?.file ?? "";
    const message = `is ${projectNamespace}, and the Shoot is in ${shoot.metadata.namespace}: write that one`;
    wrong.push(createFault({ file, object: nameOf(project), field: "spec.namespace" }, message));
  }
  const others = objects.flatMap(({ object }) =>
    referenceWrongs(object, objects).map(({ field, message }) =>
      createFault({ file: fileOf(object), object: nameOf(object), field }, message),
    ),
  );
  return [...wrong, ...others];
}

interface Wrong {
  readonly field: string;
  readonly message: string;
}

function shootWrongs({ shoot, cloudProfile }: Centre, objects: readonly ConfiguredObject[]): Wrong[] {
  const wrongs: Wrong[] = [];
  if (!isSelfHosted(shoot))
    wrongs.push({
      field: "spec.provider.workers",
      message: "has no pool for the control plane: add controlPlane: {} to exactly one",
    });
  const { kind, name } = profileReference(shoot) ?? {};
  const own = objects.find(({ object }) => object.kind === NamespacedCloudProfile.kind)?.object;
  const offered = own ?? cloudProfile;
  if (kind !== offered.kind || name !== offered.metadata.name)
    wrongs.push({
      field: "spec.cloudProfile",
      message: `names ${kind ?? "no profile"} ${name ?? ""}`.trimEnd() + `: write ${nameOf(offered)}`,
    });
  return wrongs;
}

function bindingWrongs({ spec, metadata: { namespace } }: Shoot, objects: readonly ConfiguredObject[]): Wrong[] {
  const named = [
    { field: "spec.credentialsBindingName", kind: CredentialsBinding.kind, name: spec.credentialsBindingName },
    { field: "spec.secretBindingName", kind: SecretBinding.kind, name: spec.secretBindingName },
  ];
  return named.flatMap(({ field, kind, name }) => (name ? wanted({ field, kind, name, namespace }, objects) : []));
}

/** Backups are reached with a Secret of the folder. */
function backupWrongs({ spec, metadata: { namespace } }: Shoot, objects: readonly ConfiguredObject[]): Wrong[] {
  const [pool] = controlPlanePools({ spec });
  const backup = pool?.controlPlane?.backup;
  if (pool === undefined || backup === undefined) return [];
  const index = spec.provider.workers?.indexOf(pool) ?? 0;
  const field = `spec.provider.workers[${index}].controlPlane.backup.credentialsRef`;
  const { name, kind = "Secret", namespace: own } = backup.credentialsRef ?? {};
  if (!name) return [{ field, message: "is missing: name the Secret that the object store is reached with" }];
  if (kind !== "Secret") return [{ field: `${field}.kind`, message: `is ${kind}: write a Secret` }];
  return wanted({ field, kind, name, namespace: own || namespace }, objects);
}

/** What leads to the control plane is made by extensions of the folder. */
function exposureWrongs(shoot: Shoot, objects: readonly ConfiguredObject[]): Wrong[] {
  const exposure = exposureOf({ shoot });
  const index = (shoot.spec.provider.workers ?? []).findIndex(({ controlPlane }) => controlPlane?.exposure);
  const field = `spec.provider.workers[${index}].controlPlane.exposure`;
  const dnsType = isInDns({ shoot }) ? primaryDnsProvider(shoot)?.type : undefined;
  const needed = [
    ...(exposure.by === "extension" ? [{ kind: "SelfHostedShootExposure", type: exposure.type }] : []),
    ...(dnsType === undefined ? [] : [{ kind: "DNSRecord", type: dnsType }]),
  ];
  const offers = offersFor({ shoot, objects: objects.map(({ object }) => object) });
  const missing = needed.filter((pair) => !offers.some((offer) => isDeepStrictEqual(offer, pair)));
  return missing.map(({ kind, type }) => ({
    field,
    message: `needs an extension for ${kind} of type ${type}: add its ControllerRegistration`,
  }));
}

/** The DNS that leads to the control plane is managed with a Secret of the folder. */
function dnsWrongs(shoot: Shoot, objects: readonly ConfiguredObject[]): Wrong[] {
  const { secretName, credentialsRef } = primaryDnsProvider(shoot) ?? {};
  const name = credentialsRef?.name ?? secretName;
  if (!name || !isInDns({ shoot })) return [];
  const { namespace } = shoot.metadata;
  return wanted({ field: "spec.dns.providers", kind: "Secret", name, namespace }, objects);
}

/** What an object other than the Shoot refers to, and that is not there. */
function referenceWrongs(object: ConfiguredObject["object"], objects: readonly ConfiguredObject[]): Wrong[] {
  if (object.kind === ControllerRegistration.kind)
    return (ControllerRegistration.parse(object).spec.deployment?.deploymentRefs ?? []).flatMap(({ name }, index) => {
      const field = `spec.deployment.deploymentRefs[${index}].name`;
      return wanted({ field, kind: ControllerDeployment.kind, name }, objects);
    });
  if (object.kind === CredentialsBinding.kind) {
    const { kind = "", name = "", namespace } = CredentialsBinding.parse(object).credentialsRef;
    return kind === "Secret"
      ? wanted({ field: "credentialsRef", kind, name, namespace }, objects)
      : [unsupported(kind)];
  }
  if (object.kind === NamespacedCloudProfile.kind) {
    const { name } = NamespacedCloudProfile.parse(object).spec.parent;
    return wanted({ field: "spec.parent.name", kind: CloudProfile.kind, name }, objects);
  }
  if (object.kind !== SecretBinding.kind) return [];
  const { metadata, secretRef } = SecretBinding.parse(object);
  const namespace = secretRef.namespace ?? metadata.namespace;
  return wanted({ field: "secretRef", kind: "Secret", name: secretRef.name ?? "", namespace }, objects);
}

const unsupported = (kind: string): Wrong => ({
  field: "credentialsRef.kind",
  message: `is ${kind}, whose tokens come from a garden: write a Secret`,
});

interface Reference {
  readonly field: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

function wanted({ field, kind, name, namespace }: Reference, objects: readonly ConfiguredObject[]): Wrong[] {
  const isThere = objects.some(
    ({ object }) => object.kind === kind && object.metadata.name === name && object.metadata.namespace === namespace,
  );
  const called = `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
  return isThere ? [] : [{ field, message: `names ${called}, which is not in the folder: add it` }];
}
