import { ControllerDeployment, ControllerRegistration, Seed, Shoot } from "../../api/index.ts";
import { readDeployment } from "../../api/registration/deployment.ts";
import { needed, pairsOfSeed, wordsOfShoot } from "../../api/registration/demand.ts";
import { hashOf, registeredOf, type Registered } from "../../api/registration/registered.ts";
import { seedHash } from "../../api/registration/told.ts";
import type { KubeObject, ObjectMeta } from "../../api/schema/meta.ts";
import { defineKind, typeMeta } from "../../kube/index.ts";
import type { Asking, SeedFacts } from "./requirements.ts";

/** An object of the garden, of which only what counts here is remembered, below `known`: charts are large, Shoots are many. */
export interface Known<T> extends KubeObject {
  readonly known?: T;
}

/** What is remembered of a deployment. */
export interface KnownDeployment {
  readonly hash: string;
  readonly method: "helm" | "other" | "invalid";
  readonly injectGardenKubeconfig: boolean;
}

/** Shoots, by what they ask of which Seeds: those that their spec and their status name. */
export const KnownShoot = defineKind<Known<Asking>>({ ...typeMeta(Shoot), scope: "Namespaced" });
/** Seeds, by what they want themselves, and the hash of what charts are told of them. */
export const KnownSeed = defineKind<Known<SeedFacts & { readonly hash: string }>, "Cluster">({
  ...typeMeta(Seed),
  scope: "Cluster",
});
/** Registrations without their charts. */
export const KnownRegistration = defineKind<Known<Registered>, "Cluster">({
  ...typeMeta(ControllerRegistration),
  scope: "Cluster",
});
/** Deployments without their charts. */
export const KnownDeployment = defineKind<Known<KnownDeployment>, "Cluster">({
  ...typeMeta(ControllerDeployment),
  scope: "Cluster",
});

/** Takes from a Shoot what is to be remembered. */
export const knowShoot = (object: Known<Asking>): Known<Asking> => {
  const { spec, status } = object as unknown as Shoot;
  const seeds = [...new Set([spec.seedName, status?.seedName].flatMap((seed) => seed ?? []))];
  return remember(object, { seeds, words: wordsOfShoot({ spec }) });
};

/** Takes from a Seed what is to be remembered. */
export const knowSeed = (object: Known<SeedFacts & { readonly hash: string }>) => {
  const seed = object as unknown as Seed;
  const { spec, metadata } = seed;
  const { labels = {} } = metadata;
  return remember(object, {
    name: metadata.name,
    deleting: metadata.deletionTimestamp !== undefined,
    metadata: { labels },
    spec: { provider: { type: spec.provider.type } },
    own: new Set(pairsOfSeed({ spec }).map(needed)),
    extensions: new Map(
      (spec.extensions ?? []).map(({ type, disabled }) => [type, disabled === true ? "disabled" : "enabled"] as const),
    ),
    hash: seedHash(seed),
  });
};

/** Takes from a registration what is to be remembered. */
export const knowRegistration = (object: Known<Registered>): Known<Registered> =>
  remember(object, registeredOf(object as unknown as ControllerRegistration));

/** Takes from a deployment what is to be remembered. */
export const knowDeployment = (object: Known<KnownDeployment>): Known<KnownDeployment> => {
  const deployment = object as unknown as ControllerDeployment;
  const { apiVersion: _, kind: __, metadata: ___, ...content } = deployment;
  const reading = readDeployment(deployment);
  const injectGardenKubeconfig = reading.is === "helm" && reading.helm.injectGardenKubeconfig;
  return remember(object, { hash: hashOf(content), method: reading.is, injectGardenKubeconfig });
};

function remember<T>({ apiVersion, kind, metadata }: KubeObject, known: T): Known<T> {
  return { apiVersion, kind, metadata: without(metadata), known };
}

/** By which an object is told from others and from its earlier self. */
function without({ annotations: _, managedFields: __, ...metadata }: ObjectMeta): ObjectMeta {
  return metadata;
}
