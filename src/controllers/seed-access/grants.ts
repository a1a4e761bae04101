import type { BackupBucket, BackupEntry, ControllerInstallation, Seed, ShootBastion } from "../../api/index.ts";
import { holdersOf, leftSeedsOf, snapshotSeedsOf, type KnownShoot } from "./known-shoot.ts";
import { shootUidOfBackupEntry } from "../../api/extensions/backup-entry.ts";
import type { Grant, GrantName } from "./objects.ts";
import {
  bastionRights,
  bucketRights,
  comingShootRights,
  entryRights,
  installationRights,
  leavingShootRights,
  leftShootRights,
  present,
  seedRights,
  shootRights,
  type Rights,
} from "./rights.ts";
import { shootAccessId, type World } from "./world.ts";

/** What is granted on the object of this id: nothing when it is gone. */
export function grantsOf(world: World, id: string): Grant[] {
  const shoot = world.shoots.get(id);
  if (shoot !== undefined) return shootGrants(world, shoot);
  const seed = world.seeds.get(id);
  if (seed !== undefined) return [seedGrant(world, seed)];
  const entry = world.entries.get(id);
  if (entry !== undefined) return [entryGrant(world, entry)];
  const installation = world.installations.get(id);
  if (installation !== undefined) return [installationGrant(world, installation)];
  const bastion = world.bastions.get(id);
  if (bastion !== undefined) return [bastionGrant(bastion)];
  const bucket = world.buckets.get(id);
  return bucket === undefined ? [] : [bucketGrant(bucket)];
}

/** The source's come before the leader's: at a change of leader the old one is never without the rights that it needs. */
function shootGrants(world: World, shoot: KnownShoot): Grant[] {
  const { namespace, name } = shoot.metadata;
  const credentials = world.credentialsOf(shoot);
  const { leader, source, destination } = holdersOf(shoot);
  const grant = (role: GrantName, seeds: readonly string[], rights: readonly Rights[]): Grant => ({
    name: `${role}:${namespace}:${name}`,
    seeds,
    rights,
  });
  return [
    grant("left-shoot", leftSeedsOf(shoot), leftShootRights(shoot)),
    grant("coming-shoot", present(destination), comingShootRights(shoot, credentials)),
    grant("leaving-shoot", present(source), leavingShootRights(shoot, credentials)),
    grant("shoot", present(leader), shootRights(shoot, credentials)),
  ];
}

/** An entry outlives its Shoot, in the seed that keeps its backups. Until then its rights are the Shoot's leader's. */
function entryGrant(world: World, entry: BackupEntry): Grant {
  const { name } = entry.metadata;
  const hasShoot = world.shoots.has(shootAccessId(shootUidOfBackupEntry(name) ?? ""));
  const seeds = hasShoot ? [] : present(entry.spec.seedName);
  return { name: `backup-entry:${name}`, seeds, rights: entryRights(entry) };
}

/** A Bastion is made in the seed that it names, and in no other. */
function bastionGrant(bastion: ShootBastion): Grant {
  const { metadata, spec } = bastion;
  return {
    name: `bastion:${metadata.namespace}:${metadata.name}`,
    seeds: present(spec.seedName),
    rights: bastionRights(bastion),
  };
}

/** What is installed in a seed is the seed's business, until the installation is gone. */
function installationGrant(world: World, installation: ControllerInstallation): Grant {
  const { metadata, spec } = installation;
  return {
    name: `installation:${metadata.name}`,
    seeds: present(spec.seedRef?.name),
    rights: installationRights(installation, world.chartSecretsOf(installation)),
  };
}

function seedGrant(world: World, seed: Seed): Grant {
  const { name } = seed.metadata;
  const sources = sourcesOf(world, seed).map((bucket) => ({ bucket, seed: keeperOf(world, bucket) }));
  return { name: `seed:${name}`, seeds: [name], rights: seedRights(seed, sources) };
}

const keeperOf = (world: World, { spec }: BackupBucket): Seed | undefined =>
  [...world.seeds.values()].find(({ metadata }) => metadata.name === spec.seedName);

/** A bucket may outlive its Seed: Kubernetes deletes it then, and its seed takes it away. */
function bucketGrant({ metadata: { name }, spec: { seedName } }: BackupBucket): Grant {
  if (seedName === undefined) return { name: `backup-bucket:${name}`, seeds: [], rights: [] };
  return { name: `backup-bucket:${name}`, seeds: [seedName], rights: bucketRights({ name, seedName }) };
}

/**
 * The buckets from which Shoots that come to this Seed may be restored. They follow from the Shoots' status, which only the
 * garden writes, and not from a BackupEntry, which the Seed itself may write.
 */
function sourcesOf(world: World, seed: Seed): BackupBucket[] {
  const { name } = seed.metadata;
  const coming = [...world.shoots.values()].filter(({ spec }) => spec.seedName === name);
  const sources = new Set(coming.flatMap(snapshotSeedsOf));
  sources.delete(name);
  return [...world.buckets.values()].filter(({ spec }) => spec.seedName !== undefined && sources.has(spec.seedName));
}
