import {
  ControllerRegistration,
  CredentialsBinding,
  SecretBinding,
  Seed,
  Shoot,
  type ObjectMeta,
} from "../../api/index.ts";
import type { KubeObject, NamespacedMeta } from "../../api/schema/meta.ts";
import { referencesOfShoot } from "../../api/shoot/references.ts";
import { referencesOfSeed, type NeededReference } from "../../api/core/seed-references.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { defineKind, typeMeta } from "../../kube/index.ts";

type ShootSpec = Shoot["spec"];
type Pool = NonNullable<ShootSpec["provider"]["workers"]>[number];

/** The fields of a pool that count for quotas and for what its CloudProfile offers. */
export interface KnownPool extends Pick<Pool, "maximum" | "zones" | "volume"> {
  readonly machine: Pick<Pool["machine"], "type"> & {
    readonly image?: Pick<NonNullable<Pool["machine"]["image"]>, "name" | "version"> | undefined;
  };
  readonly kubernetes?: { readonly version?: string | undefined } | undefined;
  readonly dataVolumes?: readonly Pick<NonNullable<Pool["dataVolumes"]>[number], "type" | "size">[] | undefined;
}

/** The fields of a Shoot by which other objects are judged: no part of it that is left to a provider. */
export interface KnownShoot extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec: Pick<
    ShootSpec,
    "seedName" | "secretBindingName" | "credentialsBindingName" | "cloudProfile" | "cloudProfileName" | "region"
  > & {
    readonly dns?: { readonly domain?: string | undefined } | undefined;
    readonly kubernetes: Pick<ShootSpec["kubernetes"], "version">;
    readonly provider: { readonly workers?: readonly KnownPool[] | undefined };
  };
  readonly status?: Pick<NonNullable<Shoot["status"]>, "seedName" | "seeds" | "technicalID"> | undefined;
  /** The Secrets and ConfigMaps that it names, once it is remembered. */
  readonly references?: readonly NeededReference[];
}

/** Shoots, as far as other objects are judged by them. */
export const KnownShoot = defineKind<KnownShoot>({ ...typeMeta(Shoot), scope: "Namespaced" });

/** Takes from a whole Shoot what is remembered. */
export function toKnownShoot(shoot: KnownShoot): KnownShoot {
  const { apiVersion, kind, metadata, spec, status } = shoot;
  const { seedName, secretBindingName, credentialsBindingName, cloudProfile, cloudProfileName, region } = spec;
  const { seedName: at, seeds, technicalID } = status ?? {};
  return {
    ...{ apiVersion, kind, metadata: identityOf(metadata) },
    spec: {
      ...omitUndefined({ seedName, secretBindingName, credentialsBindingName, cloudProfile, cloudProfileName }),
      ...{ region, dns: { domain: spec.dns?.domain }, kubernetes: { version: spec.kubernetes.version } },
      provider: { workers: spec.provider.workers?.map(toKnownPool) },
    },
    status: omitUndefined({ seedName: at, seeds, technicalID }),
    references: referencesOfShoot(shoot as unknown as Shoot),
  };
}

function toKnownPool({ machine, maximum, zones, volume, kubernetes, dataVolumes }: KnownPool): KnownPool {
  const { type, image } = machine;
  return {
    machine: { type, image: image && { name: image.name, version: image.version } },
    ...{ maximum, zones, volume, kubernetes: kubernetes && { version: kubernetes.version } },
    dataVolumes: dataVolumes?.map((one) => ({ type: one.type, size: one.size })),
  };
}

/** The domains of a Seed, and the Secrets that it names. */
export interface KnownSeed extends KubeObject {
  readonly spec: {
    readonly dns: {
      readonly internal?: { readonly domain: string } | undefined;
      readonly defaults?: readonly { readonly domain: string }[] | undefined;
    };
    readonly ingress?: { readonly domain: string } | undefined;
  };
  /** Once it is remembered. */
  readonly references?: readonly NeededReference[];
}

/** Seeds, by their domains and Secrets. */
export const KnownSeed = defineKind<KnownSeed, "Cluster">({ ...typeMeta(Seed), scope: "Cluster" });

/** Takes from a whole Seed what is remembered. */
export function toKnownSeed(seed: KnownSeed): KnownSeed {
  const { apiVersion, kind, metadata, spec } = seed;
  const { dns, ingress } = spec;
  return {
    ...{ apiVersion, kind, metadata: identityOf(metadata) },
    spec: {
      dns: {
        internal: dns.internal && { domain: dns.internal.domain },
        defaults: dns.defaults?.map(({ domain }) => ({ domain })),
      },
      ingress: ingress && { domain: ingress.domain },
    },
    references: referencesOfSeed(seed as unknown as Seed),
  };
}

/** The Quotas that a binding names. */
export type KnownBinding = KubeObject & Pick<SecretBinding, "metadata" | "quotas">;

/** SecretBindings, by their Quotas. */
export const KnownSecretBinding = defineKind<KnownBinding>({ ...typeMeta(SecretBinding), scope: "Namespaced" });

/** CredentialsBindings, by their Quotas. */
export const KnownCredentialsBinding = defineKind<KnownBinding>({
  ...typeMeta(CredentialsBinding),
  scope: "Namespaced",
});

/** Takes from a binding what is remembered. */
export const toKnownBinding = ({ apiVersion, kind, metadata, quotas }: KnownBinding): KnownBinding => ({
  ...{ apiVersion, kind, metadata: { ...identityOf(metadata), namespace: metadata.namespace } },
  ...(quotas && { quotas }),
});

/** ControllerRegistrations without their charts. */
export const KnownRegistration = defineKind<ControllerRegistration, "Cluster">({
  ...typeMeta(ControllerRegistration),
  scope: "Cluster",
});

/** Takes the chart from a registration. */
export function toKnownRegistration(registration: ControllerRegistration): ControllerRegistration {
  const { deployment, ...spec } = registration.spec;
  if (deployment === undefined) return registration;
  const { providerConfig: _, ...rest } = deployment;
  return { ...registration, spec: { ...spec, deployment: rest } };
}

/** The key that all versions of an object have. */
export const keyOf = ({ namespace = "", name }: Pick<ObjectMeta, "namespace" | "name">): string =>
  `${namespace}/${name}`;

/** By which an object is told from others and from its earlier self. */
function identityOf<M extends ObjectMeta>({ name, namespace, uid, resourceVersion, deletionTimestamp }: M) {
  return omitUndefined({ name, namespace, uid, resourceVersion, deletionTimestamp }) as Pick<
    M,
    "name" | "namespace" | "uid" | "resourceVersion" | "deletionTimestamp"
  >;
}
