import { BackupBucket, BackupEntry, ShootBastion } from "../../api/index.ts";
import { wordsOfBastion, wordsOfBucket, wordsOfEntry } from "../../api/registration/demand.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  createReflector,
  inBrief,
  withoutStatus,
  type Kind,
  type KubeClient,
  type Reflector,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { knownBucket, knownEntry } from "../known-backups.ts";
import {
  knowDeployment,
  KnownDeployment,
  KnownRegistration,
  KnownSeed,
  KnownShoot,
  knowRegistration,
  knowSeed,
  knowShoot,
  type Known,
} from "./known.ts";
import type { Requirements } from "./requirements.ts";

/** `onCell` is told of a registration on a Seed for which something has changed besides what objects ask for. */
export interface WatchesDeps {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly requirements: Requirements;
  readonly onRegistration: (name: string) => void;
  readonly onSeed: (name: string) => void;
}

/** Follows all that decides where controllers are wanted, and what they are installed from. */
export function createWatches({ gardenClient, log, requirements, onRegistration, onSeed }: WatchesDeps) {
  const follow = <T>(kind: Kind<Known<T>>, keep: (object: Known<T>) => Known<T>, tell: (id: Id, known?: T) => void) => {
    const reflector: Reflector<Known<T>> = createReflector(gardenClient, kind, {
      log,
      keep,
      onEvent: ({ object: { metadata } }) => tell(metadata, reflector.get(metadata.name, metadata.namespace)?.known),
    });
    return reflector;
  };
  type Id = KubeObject["metadata"];

  const shoots = follow(KnownShoot, knowShoot, ({ namespace = "", name }, asking) =>
    requirements.ask(`shoot ${namespace}/${name}`, asking),
  );
  const seeds = follow(KnownSeed, knowSeed, ({ name }, facts) => {
    requirements.setSeed(name, facts);
    onSeed(name);
  });
  const registrations = follow(KnownRegistration, knowRegistration, ({ name }, registered) => {
    requirements.setRegistration(name, registered);
    onRegistration(name);
  });
  const deployments = follow(KnownDeployment, knowDeployment, ({ name }) => {
    for (const { metadata, known } of registrations.list())
      if (known?.method.by === "reference" && known.method.name === name) onRegistration(metadata.name);
  });
  const askForEntry = ({ metadata, spec }: BackupEntry) => {
    const isKept = entries.get(metadata.name, metadata.namespace) !== undefined;
    const bucket = buckets.get(spec.bucketName ?? "");
    const asking = { seeds: spec.seedName === undefined ? [] : [spec.seedName], words: wordsOfEntry(bucket) };
    requirements.ask(`entry ${metadata.namespace}/${metadata.name}`, isKept ? asking : undefined);
  };
  const entriesOf = new Map<string, Set<BackupEntry>>();
  const entries: Reflector<BackupEntry> = createReflector(gardenClient, BackupEntry, {
    log,
    keep: knownEntry,
    onEvent: ({ object, old }) => {
      if (old !== undefined) entriesOf.get(old.spec.bucketName ?? "")?.delete(old);
      const kept = entries.get(object.metadata.name, object.metadata.namespace);
      const bucket = kept?.spec.bucketName ?? "";
      if (kept !== undefined) entriesOf.set(bucket, (entriesOf.get(bucket) ?? new Set<BackupEntry>()).add(kept));
      askForEntry(kept ?? object);
    },
  });
  const buckets: Reflector<BackupBucket> = createReflector(gardenClient, BackupBucket, {
    log,
    keep: knownBucket,
    onEvent: ({ object: { metadata } }) => {
      const kept = buckets.get(metadata.name);
      const seeds = kept?.spec.seedName === undefined ? [] : [kept.spec.seedName];
      requirements.ask(`bucket ${metadata.name}`, kept && { seeds, words: wordsOfBucket(kept) });
      for (const entry of entriesOf.get(metadata.name) ?? []) askForEntry(entry);
    },
  });

  const bastions: Reflector<ShootBastion> = createReflector(gardenClient, ShootBastion, {
    log,
    keep: (bastion) => withoutStatus(inBrief(bastion)),
    onEvent: ({ object: { metadata } }) => {
      const kept = bastions.get(metadata.name, metadata.namespace);
      const seeds = kept?.spec.seedName === undefined ? [] : [kept.spec.seedName];
      requirements.ask(
        `bastion ${metadata.namespace}/${metadata.name}`,
        kept && { seeds, words: wordsOfBastion(kept) },
      );
    },
  });

  const all = [seeds, registrations, deployments, buckets, entries, bastions, shoots];
  return {
    seed: (name: string) => seeds.get(name)?.known,
    deployment: (name: string) => deployments.get(name)?.known,
    registration: (name: string) => registrations.get(name),
    start: () => all.forEach((reflector) => reflector.start()),
    synced: () => Promise.all(all.map((reflector) => reflector.synced())),
    stop: () => Promise.all(all.map((reflector) => reflector.stop())),
  };
}

/** {@link createWatches}'s result. */
export type Watches = ReturnType<typeof createWatches>;
