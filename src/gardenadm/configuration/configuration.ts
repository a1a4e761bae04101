import { CloudProfile } from "../../api/core/cloud-profile.ts";
import { NamespacedCloudProfile } from "../../api/core/namespaced-cloud-profile.ts";
import { mergeProfiles } from "../../api/core/profile-merge.ts";
import { Project } from "../../api/core/project.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { Shoot } from "../../api/shoot/shoot.ts";
import { CliError } from "../../cli/exit.ts";
import { checkObject } from "./check.ts";
import { countFaults } from "./count.ts";
import { readDocuments, type ConfiguredObject } from "./documents.ts";
import { createFault, type Fault } from "./fault.ts";
import { readFiles } from "./files.ts";
import { placeFaults } from "./placement.ts";

/** What a self-hosted Shoot is made from: the objects that would stand in its garden. */
export interface Configuration {
  /** As it was given. */
  readonly folder: string;
  readonly shoot: Shoot;
  /** With what a NamespacedCloudProfile changes of it. */
  readonly cloudProfile: CloudProfile;
  readonly project: Project;
  /** All of them, those above among them, in the order of their files. */
  readonly objects: readonly KubeObject[];
}

/** Why a configuration cannot be used: one line for each fault, of which each names file, object, field and remedy. */
export class ConfigurationError extends CliError {
  readonly faults: readonly Fault[];

  constructor(folder: string, faults: readonly Fault[]) {
    const shown = faults.slice(0, MOST_SHOWN).map(({ sentence }) => sentence);
    const more = faults.length > MOST_SHOWN ? [`and ${faults.length - MOST_SHOWN} faults more`] : [];
    super("usage", [`cannot use configuration ${folder}:`, ...shown, ...more].join(faults.length === 1 ? " " : "\n  "));
    this.name = "ConfigurationError";
    this.faults = faults;
  }
}

const MOST_SHOWN = 20;

/**
 * Reads a configuration folder and writes nothing. Several documents may share a file, at any depth; what is hidden does not count.
 * Throws a ConfigurationError with all that is wrong.
 */
export async function readConfiguration(folder: string): Promise<Configuration> {
  const { files, faults: unreadable } = await readFiles(folder).catch((error: unknown) => {
    throw folderError(folder, error);
  });
  const documents = files.map((file) => readDocuments(file));
  const faults = [...unreadable, ...documents.flatMap((document) => document.faults)];
  return judgeConfiguration(folder, { objects: documents.flatMap(({ objects }) => objects), faults });
}

/** The objects of a folder, and what was wrong with its files before anything was made of them. */
export interface WrittenConfiguration {
  readonly objects: readonly ConfiguredObject[];
  readonly faults?: readonly Fault[];
}

/** What the objects are together, whether they stand in the folder yet or not. Throws a ConfigurationError with all that is wrong. */
export function judgeConfiguration(folder: string, written: WrittenConfiguration): Configuration {
  const checked = written.objects.map((one) => checkObject(one));
  const faults = [...(written.faults ?? []), ...checked.flatMap((one) => one.faults), ...countFaults(written.objects)];
  if (faults.length > 0) throw new ConfigurationError(folder, faults);
  const objects = checked.map(({ object, file }) => ({ object, file }));
  const configuration = {
    folder,
    shoot: Shoot.parse(theOne(objects, "Shoot")),
    cloudProfile: effectiveProfile(objects),
    project: Project.parse(theOne(objects, "Project")),
    objects: objects.map(({ object }) => object),
  };
  const misplaced = placeFaults(configuration, objects);
  if (misplaced.length > 0) throw new ConfigurationError(folder, misplaced);
  return configuration;
}

/** What the file system says against a folder, as the operator is told it. */
export const folderError = (folder: string, error: unknown): ConfigurationError =>
  new ConfigurationError(folder, [createFault({}, folderFault(error))]);

function folderFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such folder: name it with --config-dir";
  if (code === "ENOTDIR") return "is no folder: name the folder that the file is in";
  return `cannot be read (${code ?? message}): make it readable`;
}

/** What the CloudProfile offers, with what a NamespacedCloudProfile changes of it where there is one. */
function effectiveProfile(objects: readonly ConfiguredObject[]): CloudProfile {
  const parent = CloudProfile.parse(theOne(objects, "CloudProfile"));
  const own = theOne(objects, NamespacedCloudProfile.kind);
  return own === undefined
    ? parent
    : { ...parent, spec: mergeProfiles(parent.spec, NamespacedCloudProfile.parse(own).spec) };
}

/** Kinds that `countFaults` has counted. */
const theOne = (objects: readonly ConfiguredObject[], kind: string): KubeObject | undefined =>
  objects.find(({ object }) => object.kind === kind)?.object;
