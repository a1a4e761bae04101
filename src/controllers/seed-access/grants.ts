import { PREVIOUS_BUCKET_ANNOTATION } from "../../api/annotations.ts";
import { backupEntryName } from "../../api/extensions/backup-entry.ts";
import type { BackupBucket, BackupEntry, ControllerInstallation, Seed, ShootBastion } from "../../api/index.ts";
import { holdersOf, isMoving, leftSeedsOf, type KnownShoot } from "./known-shoot.ts";
import type { Grant } from "./objects.ts";
import {
  bastionRights,
  bucketRights,
  entryRights,
  installationRights,
  leftShootRights,
  seedRights,
  shootRights,
} from "./rights.ts";
import type { World } from "./world.ts";

/** What is granted on the object of this id: nothing when it is gone. */
export function grantsOf(world: World, id: string): Grant[] {
  const shoot = world.shoots.get(id);
  if (shoot !== undefined) return shootGrants(world, shoot);
  const seed = world.seeds.get(id);
  if (seed !== undefined) return [seedGrant(world, seed)];
  const entry = world.entries.get(id);
  if (entry !== undefined) return [entryGrant(entry)];
  const installation = world.installations.get(id);
  if (installation !== undefined) return [installationGrant(world, installation)];
  const bastion = world.bastions.get(id);
  if (bastion !== undefined) return [bastionGrant(bastion)];
  const bucket = world.buckets.get(id);
  return bucket === undefined ? [] : [bucketGrant(bucket)];
}

function shootGrants(world: World, shoot: KnownShoot): Grant[] {
  const { namespace, name } = shoot.metadata;
  const credentials = world.credentialsOf(shoot);
  return [
    { name: `left-shoot:${namespace}:${name}`, seeds: leftSeedsOf(shoot), rights: leftShootRights(shoot) },
    { name: `shoot:${namespace}:${name}`, seeds: holdersOf(shoot), rights: shootRights(shoot, credentials) },
  ];
}

/** An entry outlives its Shoot, in the seed that keeps its backups. */
function entryGrant(entry: BackupEntry): Grant {
  const { seedName } = entry.spec;
  return {
    name: `backup-entry:${entry.metadata.name}`,
    seeds: seedName === undefined ? [] : [seedName],
    rights: entryRights(entry),
  };
}

/** A Bastion is made in the seed that it names, and in no other. */
function bastionGrant(bastion: ShootBastion): Grant {
  const { metadata, spec } = bastion;
  return {
    name: `bastion:${metadata.namespace}:${metadata.name}`,
    seeds: spec.seedName === undefined ? [] : [spec.seedName],
    rights: bastionRights(bastion),
  };
}

/** What is installed in a seed is the seed's business, until the installation is gone. */
function installationGrant(world: World, installation: ControllerInstallation): Grant {
  const { metadata, spec } = installation;
  return {
    name: `installation:${metadata.name}`,
    seeds: spec.seedRef?.name === undefined ? [] : [spec.seedRef.name],
    rights: installationRights(installation, world.chartSecretsOf(installation)),
  };
}

function seedGrant(world: World, seed: Seed): Grant {
  const { name } = seed.metadata;
  return { name: `seed:${name}`, seeds: [name], rights: seedRights(seed, sourcesOf(world, seed)) };
}

/** A bucket may outlive its Seed: Kubernetes deletes it then, and its seed takes it away. */
function bucketGrant({ metadata: { name }, spec: { seedName } }: BackupBucket): Grant {
  if (seedName === undefined) return { name: `backup-bucket:${name}`, seeds: [], rights: [] };
  return { name: `backup-bucket:${name}`, seeds: [seedName], rights: bucketRights({ name, seedName }) };
}

/** The buckets of other seeds that hold the backups of Shoots that are coming to this one. */
function sourcesOf(world: World, seed: Seed): BackupBucket[] {
  const coming = [...world.shoots.values()].filter(
    (shoot) => shoot.spec.seedName === seed.metadata.name && isMoving(shoot),
  );
  const entries = new Set(
    coming.map(({ metadata, status }) => backupEntryName(status?.technicalID ?? "", metadata.uid ?? "")),
  );
  const names = [...world.entries.values()]
    .filter(({ metadata }) => entries.has(metadata.name))
    .flatMap(({ spec, metadata }) => [spec.bucketName, metadata.annotations?.[PREVIOUS_BUCKET_ANNOTATION]]);
  return [...world.buckets.values()].filter(
    ({ metadata, spec }) => names.includes(metadata.name) && spec.seedName !== seed.metadata.name,
  );
}
