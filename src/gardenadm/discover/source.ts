import { dirname } from "node:path";
import { listed } from "../../api/counted.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import { CliError } from "../../cli/exit.ts";
import type { KubeClient } from "../../kube/index.ts";
import { nameOf } from "../configuration/fault.ts";
import type { Collection } from "./collection.ts";
import { contradictions } from "./difference.ts";
import { readShootManifest, type Manifest } from "./manifest.ts";
import { uidOf } from "./stored-object.ts";

/** How many fields of a Shoot are said. */
const MOST_FIELDS = 8;

/** What the command line says of the Shoot. */
export interface Asked {
  readonly manifest: string | undefined;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly configDir: string | undefined;
}

/** Where the Shoot comes from, and the folder for what it needs. */
export type Source = { readonly folder: string } & (
  { readonly manifest: Manifest } | { readonly inGarden: { readonly namespace: string; readonly name: string } }
);

/** Reads what the command line names; throws what it lacks, or what is wrong with the manifest. */
export async function readSource({ manifest, name, namespace, configDir }: Asked): Promise<Source> {
  if (manifest !== undefined && name !== undefined)
    throw new CliError("usage", "there are two Shoots: leave out --name, or the manifest");
  if (manifest !== undefined)
    return { folder: configDir ?? dirname(manifest), manifest: await readShootManifest(manifest) };
  if (name === undefined)
    throw new CliError("usage", "no Shoot: name the file with its manifest, or one of the garden with --name");
  if (namespace === undefined) throw new CliError("usage", "--name needs the Shoot's namespace: add --namespace");
  if (configDir === undefined)
    throw new CliError("usage", "--name needs a folder to write to: name one with --config-dir");
  return { folder: configDir, inGarden: { namespace, name } };
}

/** The Shoot that is worked on, and the garden's of that name. */
export interface FoundShoot {
  readonly shoot: Shoot;
  readonly existing: Shoot | undefined;
}

/** Keeps the Shoot: that of the operator's folder, else that of the manifest, else the garden's. */
export async function findShoot(source: Source, garden: KubeClient, collection: Collection): Promise<FoundShoot> {
  const { namespace, name } = "manifest" in source ? source.manifest.shoot.metadata : source.inGarden;
  const existing = await garden.read(Shoot, { namespace, name });
  const shoot = "manifest" in source ? withUidOf(source.manifest.shoot, existing) : existing;
  if (shoot === undefined)
    throw new CliError(
      "notFound",
      `Shoot ${namespace}/${name} is not in the garden: say another --name and --namespace, or name the file with its manifest`,
    );
  collection.keep(shoot, existing);
  const { object, file } = collection.taken.get(nameOf(shoot)) ?? { object: shoot };
  if (file === undefined && existing !== undefined) noteDifference(object, existing, collection);
  return { shoot: Shoot.parse(object), existing };
}

/** A Shoot that exists is the one of its manifest: backups and nodes know it by its uid. */
function withUidOf(shoot: Shoot, existing: Shoot | undefined): Shoot {
  const uid = shoot.metadata.uid ?? (existing && uidOf(existing));
  return uid === undefined ? shoot : { ...shoot, metadata: { ...shoot.metadata, uid } };
}

/** Of a manifest that is not in the folder; the report says it of those that are. */
function noteDifference(ours: KubeObject, theirs: KubeObject, collection: Collection): void {
  const fields = contradictions(theirs, ours).map(({ field }) => field);
  if (fields.length > 0)
    collection.note(nameOf(ours), `the manifest's is not as in the garden, in ${listed(fields, MOST_FIELDS)}`);
}
