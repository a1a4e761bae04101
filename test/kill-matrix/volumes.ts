/** What an etcd holds: its revision, and how many writes of clients it has accepted. */
export interface EtcdData {
  readonly revision: number;
  readonly writes: number;
}

/** The volumes of the Shoots' main etcds, each in a seed and a namespace. */
export interface Volumes {
  read(place: Place): EtcdData | undefined;
  write(place: Place, data: EtcdData): void;
  /** The volume was deleted, and what was in it. */
  release(place: Place): void;
}

/** A Shoot's namespace in one seed. */
export interface Place {
  readonly seed: string;
  readonly namespace: string;
}

/** Volumes that are empty until somebody writes. */
export function createVolumes(): Volumes {
  const volumes = new Map<string, EtcdData>();
  const key = ({ seed, namespace }: Place) => `${seed}/${namespace}`;
  return {
    read: (place) => volumes.get(key(place)),
    write: (place, data) => void volumes.set(key(place), data),
    release: (place) => void volumes.delete(key(place)),
  };
}
