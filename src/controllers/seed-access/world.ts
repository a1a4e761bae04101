import {
  BackupBucket,
  BackupEntry,
  ControllerInstallation,
  CredentialsBinding,
  SecretBinding,
  Seed,
  ShootBastion,
} from "../../api/index.ts";
import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  createReflector,
  inBrief,
  withoutStatus,
  type Kind,
  type KubeClient,
  type NamespacedKey,
  type Reflector,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { knownBucket, knownEntry } from "../known-backups.ts";
import { ChartAccess, toChartAccess } from "./chart-access.ts";
import { KnownShoot, toKnownShoot } from "./known-shoot.ts";

/** What of a garden decides which rights a seed has there. */
export interface World {
  /** The objects themselves, by {@link accessId}. */
  readonly shoots: ReadonlyMap<string, KnownShoot>;
  readonly seeds: ReadonlyMap<string, Seed>;
  readonly entries: ReadonlyMap<string, BackupEntry>;
  readonly buckets: ReadonlyMap<string, BackupBucket>;
  readonly installations: ReadonlyMap<string, ControllerInstallation>;
  readonly bastions: ReadonlyMap<string, ShootBastion>;
  /** The Secret that a Shoot's binding names. */
  credentialsOf(shoot: KnownShoot): NamespacedKey | undefined;
  /** The Secrets in namespace `garden` that it takes to pull the installation's chart. */
  chartSecretsOf(installation: ControllerInstallation): readonly string[];
}

/** `onChange` is told the id of each object on which rights may have to change. */
export interface WorldDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly onChange: (id: string) => void;
}

/** Names an object on which seeds are given rights: its kind in lower case, and its uid. */
export const accessId = ({ kind, metadata }: KubeObject): string => `${kind.toLowerCase()}.${metadata.uid ?? ""}`;

/** The {@link accessId} of the Shoot of this uid. */
export const shootAccessId = (uid: string): string => `shoot.${uid}`;

/** Follows the garden's Shoots with their bindings, Seeds and backups; a Seed's rights depend on Shoots that come to it. */
export function createWorld({ gardenClient, log, onChange }: WorldDeps) {
  const follow = <T extends KubeObject>(kind: Kind<T>, depend: (object: T) => void, keep: (object: T) => T) => {
    const objects = new Map<string, T>();
    const reflector: Reflector<T> = createReflector(gardenClient, kind, {
      log,
      keep,
      onEvent: ({ type, object, old }) => {
        const { name, namespace } = object.metadata;
        const kept = type === "deleted" ? undefined : reflector.get(name, namespace);
        if (kept === undefined) objects.delete(accessId(object));
        else objects.set(accessId(object), kept);
        for (const one of old === undefined ? [object] : [old, object]) depend(one);
      },
    });
    return { objects, reflector };
  };
  const touch = (object: KubeObject) => onChange(accessId(object));
  const touchSeeds = () => [...seeds.objects.values()].forEach(touch);
  const touchSeed = (name: string | undefined) =>
    [...seeds.objects.values()].filter(({ metadata }) => metadata.name === name).forEach(touch);
  const touchShoots = ({ metadata }: CredentialsBinding | SecretBinding) =>
    shoots.reflector
      .list(metadata.namespace)
      .filter(({ spec }) => [spec.credentialsBindingName, spec.secretBindingName].includes(metadata.name))
      .forEach(touch);

  // What seeds write of these may be anything: it is not remembered.
  const seeds = follow(
    Seed,
    (seed) => {
      touch(seed);
      touchSeeds(); // what it says of its credentials is for those, too, that read its bucket
    },
    withoutStatus,
  );
  const buckets = follow(
    BackupBucket,
    (bucket) => {
      touch(bucket);
      touchSeeds();
    },
    knownBucket,
  );
  const credentialsBindings = follow(CredentialsBinding, touchShoots, inBrief);
  const secretBindings = follow(SecretBinding, touchShoots, inBrief);
  const shoots = follow(
    KnownShoot,
    (shoot) => {
      touch(shoot);
      touchSeed(shoot.spec.seedName);
      touchEntry(shoot);
    },
    toKnownShoot,
  );
  const entries = follow(BackupEntry, touch, knownEntry);
  // It is its seed's own once the Shoot is gone.
  const touchEntry = ({ metadata: { namespace, uid = "" }, status }: KnownShoot) => {
    const entry = entries.reflector.get(backupEntryName(status?.technicalID ?? "", uid), namespace);
    if (entry !== undefined) touch(entry);
  };

  const bastions = follow(ShootBastion, touch, (bastion) => withoutStatus(inBrief(bastion)));
  const installations = follow(ControllerInstallation, touch, withoutStatus);
  const deployments = follow(
    ChartAccess,
    ({ metadata }) =>
      [...installations.objects.values()]
        .filter(({ spec }) => spec.deploymentRef?.name === metadata.name)
        .forEach(touch),
    toChartAccess,
  );

  const credentialsOf = ({ metadata: { namespace }, spec }: KnownShoot): NamespacedKey | undefined => {
    const { credentialsBindingName, secretBindingName = "" } = spec;
    const ref =
      credentialsBindingName === undefined
        ? { kind: "Secret", ...secretBindings.reflector.get(secretBindingName, namespace)?.secretRef }
        : credentialsBindings.reflector.get(credentialsBindingName, namespace)?.credentialsRef;
    const { kind = "Secret", name, namespace: own = namespace } = ref ?? {};
    // A WorkloadIdentity and a Secret may bear the same name.
    return name === undefined || kind !== "Secret" ? undefined : { name, namespace: own };
  };
  const world: World = {
    shoots: shoots.objects,
    seeds: seeds.objects,
    entries: entries.objects,
    buckets: buckets.objects,
    installations: installations.objects,
    bastions: bastions.objects,
    credentialsOf,
    chartSecretsOf: ({ spec }) => deployments.reflector.get(spec.deploymentRef?.name ?? "")?.secrets ?? [],
  };
  const reflectors = [
    installations,
    deployments,
    seeds,
    buckets,
    credentialsBindings,
    secretBindings,
    shoots,
    entries,
    bastions,
  ].map((one) => one.reflector);
  return {
    world,
    start: () => reflectors.forEach((reflector) => reflector.start()),
    synced: () => Promise.all(reflectors.map((reflector) => reflector.synced())),
    stop: () => Promise.all(reflectors.map((reflector) => reflector.stop())),
  };
}
