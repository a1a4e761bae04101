import type { Shoot } from "../../api/index.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { OperatorError } from "../steps/fault.ts";
import { placesIn } from "../machine/places.ts";

/** Throws an OperatorError where the cluster's Shoot is another one than the configuration's. */
export function refuseOtherShoot({ metadata: { namespace, name } }: Shoot, { metadata: wanted }: Shoot): void {
  if (namespace === wanted.namespace && name === wanted.name) return;
  throw new OperatorError(
    `this machine is of Shoot ${namespace}/${name}, and the configuration is of ${wanted.namespace}/${wanted.name}: take the one that belongs to it`,
  );
}

/** Notes on a machine whose cluster has come from elsewhere which Shoot that is: from then on `init` works on it, too. */
export async function noteShoot(root: string, { metadata: { uid } }: Shoot): Promise<void> {
  if (uid === undefined) throw new Error("the cluster's Shoot has no uid");
  const places = placesIn(root);
  // In this order: where the uid is and this is not, `init` begins a cluster anew.
  await writeWhole(places.imported, Buffer.from(`${new Date().toISOString()}\n`), 0o600);
  await writeWhole(places.shootUid, Buffer.from(`${uid}\n`), 0o600);
}
