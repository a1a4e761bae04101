import { join } from "node:path";

/** With what a disk is tried, in a folder on it. The name does not change: what a killed run leaves, the next takes away. */
export const DISK_TRIAL = ".gardenadm-preflight";

/** Where gardenadm keeps what is its own on a machine, below `root`. */
export interface Places {
  /** The folder that the operator's configuration was read from last. */
  readonly configDirectory: string;
  readonly shootUid: string;
  /** The directory that is the cluster until its API server answers. */
  readonly cluster: string;
  /** Says that the API server has all that was in the directory; from then on nothing is made anew without it. */
  readonly imported: string;
  readonly journal: string;
  readonly lock: string;
}

/** The places of a machine whose `/` is this folder (paths of GEP-28, as far as it names them). */
export function placesIn(root: string): Places {
  const own = join(root, "/var/lib/gardenadm");
  return {
    configDirectory: join(own, "config-directory"),
    shootUid: join(own, "shoot-uid"),
    cluster: join(own, "cluster"),
    imported: join(own, "imported"),
    journal: join(own, "journal"),
    lock: join(own, "lock"),
  };
}
