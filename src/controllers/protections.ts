import {
  CloudProfile,
  CREDENTIALS_BINDING_FINALIZER,
  CredentialsBinding,
  Project,
  SECRET_BINDING_FINALIZER,
  SecretBinding,
  Shoot,
} from "../api/index.ts";
import type { KubeClient, NamespacedKey } from "../kube/index.ts";
import { createProtection, type Protection, type ProtectionDeps } from "./protection.ts";

/** Keeps what Shoots need from being deleted under them: CloudProfiles, Projects, bindings, and the Secrets of these. */
export function createProtections(deps: ProtectionDeps) {
  const parts = [
    createProtection(profiles, deps),
    createProtection(projects, deps),
    createProtection(secretBindings, deps),
    createProtection(credentialsBindings, deps),
  ];
  return {
    start: () => parts.forEach((part) => part.start()),
    stop: async (): Promise<void> => void (await Promise.all(parts.map((part) => part.stop()))),
  };
}

const profiles: Protection<CloudProfile> = {
  kind: CloudProfile,
  users: (client, { metadata: { name } }) =>
    shoots(
      client,
      undefined,
      ({ cloudProfile, cloudProfileName }) => (cloudProfile?.name ?? cloudProfileName) === name,
    ),
};

const projects: Protection<Project> = {
  kind: Project,
  users: async (client, { spec: { namespace } }) => (namespace === undefined ? [] : await shoots(client, namespace)),
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
  need: (spec: Shoot["spec"]) => boolean = () => true,
): Promise<Shoot[]> {
  const all = await client.list(Shoot, namespace === undefined ? {} : { namespace });
  return all.filter(({ spec }) => need(spec));
}

interface SecretReference {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

const keyOf = ({ name, namespace }: SecretReference, own: string): NamespacedKey | undefined =>
  name ? { name, namespace: namespace || own } : undefined;
