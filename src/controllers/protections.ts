import { isDeepStrictEqual } from "node:util";
import {
  CloudProfile,
  ControllerDeployment,
  ControllerRegistration,
  CREDENTIALS_BINDING_FINALIZER,
  CredentialsBinding,
  ExposureClass,
  NamespacedCloudProfile,
  Project,
  Quota,
  SECRET_BINDING_FINALIZER,
  SecretBinding,
  Shoot,
} from "../api/index.ts";
import { profileReference } from "../api/core/effective-profile.ts";
import { quotasOf } from "../api/core/quotas-of.ts";
import type { KubeObject, NamespacedMeta } from "../api/schema/meta.ts";
import {
  defineKind,
  inBrief,
  indexBy,
  typeMeta,
  type KubeClient,
  type NamespacedKey,
  type Reflector,
} from "../kube/index.ts";
import { createProtection, requireCurrent, wordOf, type Protection, type ProtectionDeps } from "./protection.ts";

/** Keeps what is needed from being deleted: profiles, Projects, ExposureClasses, bindings with their Secrets, Quotas, charts. */
export function createProtections(deps: ProtectionDeps) {
  const ofSecrets = createProtection(secretBindings, deps);
  const ofCredentials = createProtection(credentialsBindings, deps);
  const parts = [
    createProtection(profiles, deps),
    createProtection(ownProfiles, deps),
    createProtection(quotas(ofSecrets.watch, ofCredentials.watch), deps),
    createProtection(exposureClasses, deps),
    createProtection(projects, deps),
    createProtection(deployments, deps),
    ofSecrets,
    ofCredentials,
  ];
  return {
    start: () => parts.forEach((part) => part.start()),
    stop: async (): Promise<void> => void (await Promise.all(parts.map((part) => part.stop()))),
  };
}

const profiles: Protection<CloudProfile> = {
  kind: CloudProfile,
  users: async (client, { metadata: { name } }) => {
    const children = await client.list(NamespacedCloudProfile);
    return [
      ...(await shoots(client, undefined, names({ kind: CloudProfile.kind, name }))),
      ...children.filter(({ spec }) => spec.parent.name === name),
    ];
  },
};

const ownProfiles: Protection<NamespacedCloudProfile> = {
  kind: NamespacedCloudProfile,
  users: (client, { kind, metadata: { name, namespace } }) => shoots(client, namespace, names({ kind, name })),
};

const names = (profile: { readonly kind: string; readonly name: string }) => (spec: NeedingShoot["spec"]) =>
  isDeepStrictEqual(profileReference({ spec }), profile);

/** A Quota holds for the Shoots of the bindings that name it. */
function quotas(ofSecrets: Reflector<SecretBinding>, ofCredentials: Reflector<CredentialsBinding>): Protection<Quota> {
  const wordsOf = (binding: SecretBinding | CredentialsBinding) =>
    quotasOf(binding).flatMap((key) => wordOf(key) ?? []);
  const [secretBindingsOf, credentialsBindingsOf] = [indexBy(ofSecrets, wordsOf), indexBy(ofCredentials, wordsOf)];
  return {
    kind: Quota,
    async users(_client, { metadata }) {
      await requireCurrent(ofSecrets, SecretBinding);
      await requireCurrent(ofCredentials, CredentialsBinding);
      const word = wordOf(metadata) ?? "";
      return [...secretBindingsOf(word), ...credentialsBindingsOf(word)];
    },
  };
}

const exposureClasses: Protection<ExposureClass> = {
  kind: ExposureClass,
  users: (client, { metadata: { name } }) =>
    shoots(client, undefined, ({ exposureClassName }) => exposureClassName === name),
};

const projects: Protection<Project> = {
  kind: Project,
  users: async (client, { spec: { namespace } }) => (namespace === undefined ? [] : await shoots(client, namespace)),
};

/** A registration goes when it is installed nowhere any more; of its deployment, charts are too large to be remembered. */
const deployments: Protection<ControllerDeployment> = {
  kind: ControllerDeployment,
  keep: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
  users: async (client, { metadata: { name } }) => {
    const registrations = await client.list(ControllerRegistration);
    return registrations.filter(({ spec }) => spec.deployment?.deploymentRefs?.some((ref) => ref.name === name));
  },
};

const secretBindings: Protection<SecretBinding> = {
  kind: SecretBinding,
  users: (client, { metadata: { name, namespace } }) =>
    shoots(client, namespace, ({ secretBindingName }) => secretBindingName === name),
  secret: {
    finalizer: SECRET_BINDING_FINALIZER,
    of: ({ secretRef, metadata }) => keyOf(secretRef, metadata.namespace),
  },
};

const credentialsBindings: Protection<CredentialsBinding> = {
  kind: CredentialsBinding,
  users: (client, { metadata: { name, namespace } }) =>
    shoots(client, namespace, ({ credentialsBindingName }) => credentialsBindingName === name),
  secret: {
    finalizer: CREDENTIALS_BINDING_FINALIZER,
    of: ({ credentialsRef: { kind = "Secret", ...ref }, metadata }) =>
      kind === "Secret" ? keyOf(ref, metadata.namespace) : undefined,
  },
};

/** The Shoots of a namespace, or of all, whose spec says that they need something. */
async function shoots(
  client: KubeClient,
  namespace: string | undefined,
  need: (spec: NeedingShoot["spec"]) => boolean = () => true,
): Promise<KubeObject[]> {
  const all = await client.list(NeedingShoot, { keep: needsOnly, ...(namespace !== undefined && { namespace }) });
  return all.filter(({ spec }) => need(spec));
}

/** Of a Shoot, what it needs: a project has many, with hundreds of kilobytes for its provider. */
interface NeedingShoot extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: Pick<
    Shoot["spec"],
    "cloudProfile" | "cloudProfileName" | "exposureClassName" | "secretBindingName" | "credentialsBindingName"
  >;
}

const NeedingShoot = defineKind<NeedingShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

function needsOnly({ apiVersion, kind, metadata, spec }: NeedingShoot): NeedingShoot {
  const { cloudProfile, cloudProfileName, exposureClassName, secretBindingName, credentialsBindingName } = spec;
  const needs = { cloudProfile, cloudProfileName, exposureClassName, secretBindingName, credentialsBindingName };
  return inBrief({ apiVersion, kind, metadata, spec: needs });
}

interface SecretReference {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

const keyOf = ({ name, namespace }: SecretReference, own: string): NamespacedKey | undefined =>
  name ? { name, namespace: namespace || own } : undefined;
