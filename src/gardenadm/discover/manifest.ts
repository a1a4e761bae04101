import type { KubeObject } from "../../api/schema/meta.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import { CliError } from "../../cli/exit.ts";
import { checkObject } from "../configuration/check.ts";
import { readDocuments } from "../configuration/documents.ts";
import { createFault, nameOf } from "../configuration/fault.ts";
import { readManifest } from "../configuration/files.ts";
import type { ConfigurationFolder } from "./folder.ts";

/** The Shoot of a manifest, and what else stands in it. */
export interface Manifest {
  readonly file: string;
  readonly shoot: Shoot;
  readonly others: readonly KubeObject[];
}

/** Reads the file with the manifest of a Shoot; throws what is wrong with it, a sentence each. */
export async function readShootManifest(file: string): Promise<Manifest> {
  const text = await readManifest(file, file);
  if (text === undefined) throw refusal([`${file} is a folder: name the file with the Shoot in it`]);
  if (typeof text !== "string") throw refusal([text.sentence]);
  const { objects, faults } = readDocuments({ file, text });
  const shoots = objects.filter(({ object }) => object.kind === Shoot.kind);
  const [first] = shoots;
  const checked = first && checkObject(first);
  const wrong = [...faults, ...(checked?.faults ?? [])].map(({ sentence }) => sentence);
  if (wrong.length > 0) throw refusal(wrong);
  if (checked === undefined || shoots.length > 1)
    throw refusal([createFault({ file }, `has ${shoots.length} Shoots: it has to have exactly one`).sentence]);
  const others = objects.flatMap(({ object }) => (object.kind === Shoot.kind ? [] : [object]));
  return { file, shoot: Shoot.parse(checked.object), others };
}

/** Throws for an object of the manifest that is not in the folder, too: it would be forgotten. */
export function refuseOthers({ file, others }: Manifest, { folder, written }: ConfigurationFolder): void {
  const names = new Set(written.map(({ object }) => nameOf(object)));
  const forgotten = others.find((object) => !names.has(nameOf(object)));
  if (forgotten === undefined) return;
  const message = `stands beside the Shoot, and the file is not in ${folder}: move it there`;
  throw refusal([createFault({ file, object: nameOf(forgotten) }, message).sentence]);
}

const refusal = (sentences: readonly string[]): CliError =>
  new CliError("usage", ["cannot use the manifest:", ...sentences].join(sentences.length === 1 ? " " : "\n  "));
