/** What an etcd holds: its revision, and how many writes of clients it has accepted. */
export interface EtcdData {
  readonly revision: number;
  readonly writes: number;
}

/** The volumes and buckets of all seeds: files by path, as the pods that stand in for the real ones see them. */
export interface Storage {
  /** The files of a volume claim; the claim of the backups is the Shoot's directory of a bucket. */
  files(claim: ClaimRef): Map<string, EtcdData>;
  /** From now on the claim of the backups is the Shoot's directory of this bucket. */
  mount(place: Place, bucket: string): void;
  /** The claim was deleted, and its files with it; what is in a bucket stays. */
  release(claim: ClaimRef): void;
  /** What one bucket has of a Shoot is from now on in the other, too; nothing is taken away. */
  copy(namespace: string, from: string, to: string): void;
}

/** A Shoot's namespace in one seed. */
export interface Place {
  readonly seed: string;
  readonly namespace: string;
}

/** One claim of a Shoot in one seed. */
export interface ClaimRef extends Place {
  readonly claim: string;
}

/** Name of the claim through which pods reach their Shoot's backups. */
const BACKUPS = "etcd-backup";

/** Files as maps; buckets outlive what is in the seeds. */
export function createStorage(): Storage {
  const directories = new Map<string, Map<string, EtcdData>>();
  const mounts = new Map<string, string>();
  const directory = (path: string) => {
    const found = directories.get(path) ?? new Map<string, EtcdData>();
    directories.set(path, found);
    return found;
  };
  const entry = (bucket: string, namespace: string) => directory(`bucket/${bucket}/${namespace}`);
  return {
    files({ seed, namespace, claim }) {
      if (claim !== BACKUPS) return directory(`volume/${seed}/${namespace}/${claim}`);
      const bucket = mounts.get(`${seed}/${namespace}`);
      if (bucket === undefined) throw new Error(`no bucket is mounted for ${namespace} in ${seed}`);
      return entry(bucket, namespace);
    },
    mount: ({ seed, namespace }, bucket) => void mounts.set(`${seed}/${namespace}`, bucket),
    release: ({ seed, namespace, claim }) => void directories.delete(`volume/${seed}/${namespace}/${claim}`),
    copy(namespace, from, to) {
      for (const [name, data] of entry(from, namespace)) entry(to, namespace).set(name, data);
    },
  };
}
