import { join } from "node:path";
import type { Shoot } from "../../api/shoot/shoot.ts";
import { CliError } from "../../cli/exit.ts";
import { alongside, choice, optional, text } from "../../cli/option.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import { judgeConfiguration } from "../configuration/configuration.ts";
import { nameOf } from "../configuration/fault.ts";
import { gardenOptions } from "../connection.ts";
import { defineCommand, type GardenadmContext } from "../context.ts";
import { collect } from "./collect.ts";
import { createCollection, type Collection } from "./collection.ts";
import { readFolder, renderFile, type ConfigurationFolder } from "./folder.ts";
import { refuseOthers } from "./manifest.ts";
import { planFiles, type FileChange } from "./plan.ts";
import { reportChanges, summarize } from "./report.ts";
import { findShoot, readSource } from "./source.ts";

/** `gardenadm discover` */
export const discover = defineCommand({
  name: "discover",
  summary: "Write the configuration of a Shoot from a garden: all that it needs, a file for each object",
  description:
    "The Shoot is that of a manifest, or one that the garden has. Files that you have written yourself stay as they are and count more than " +
    "the garden. Given again, the command says what has changed in the garden and writes that; it removes no file. It needs no root.",
  examples: [
    "gardenadm discover shoot.yaml -k garden.yaml -d config",
    "gardenadm discover --name root --namespace garden -k garden.yaml -d config",
  ],
  args: { manifest: optional("The file with the Shoot, which need not be in the garden") },
  options: {
    name: text("name", "The Shoot that is in the garden, instead of a manifest"),
    namespace: alongside("name", text("namespace", "its namespace")),
    configDir: text("folder", "The folder that is written to [that of the manifest]", "d"),
    managedInfrastructure: choice(
      ["true", "false"],
      "Whether the provider makes networks and machines, so that its extensions for them are needed [true]",
    ),
    ...gardenOptions,
  },
  async run({ args, options, context }) {
    const source = await readSource({ ...args, ...options });
    const folder = await readFolder(source.folder, args.manifest);
    if ("manifest" in source) refuseOthers(source.manifest, folder);
    const { client } = await context.garden(options);
    const collection = createCollection(client, folder.written);
    const { shoot, existing } = await findShoot(source, client, collection);
    const managedInfrastructure = options.managedInfrastructure !== "false";
    await collect({ shoot, existing, managedInfrastructure, collection });
    if (collection.faults.length > 0) throw incomplete(shoot, collection);

    const changes = planFiles(folder, collection.taken.values());
    judgeConfiguration(folder.folder, { objects: [...folder.written, ...changes.filter(({ is }) => is !== "kept")] });
    await write(changes, folder, context);
    const { out, err } = context.terminal;
    out.write(reportChanges(changes));
    err.write(collection.notes.map((note) => `note: ${note}\n`).join(""));
    err.write(`\n${folder.folder} has what ${nameOf(shoot)} needs: ${summarize(changes)}\n`);
    err.write(`Next: gardenadm init -d ${folder.folder}\n`);
  },
});

function incomplete(shoot: Shoot, { faults }: Collection): CliError {
  const sentences = faults.map(({ sentence }) => sentence);
  const start = `cannot discover ${nameOf(shoot)}:`;
  return new CliError("failed", [start, ...sentences].join(sentences.length === 1 ? " " : "\n  "));
}

/** Each file whole or not at all; what a killed run has not written, the next one writes. */
async function write(
  changes: readonly FileChange[],
  { folder }: ConfigurationFolder,
  { signal }: GardenadmContext,
): Promise<void> {
  for (const { is, file, object } of changes) {
    if (signal.aborted) throw new CliError("interrupted", "interrupted; the same command goes on there");
    if (is !== "added" && is !== "changed") continue;
    const path = join(folder, file);
    await writeWhole(path, Buffer.from(renderFile(object)), 0o600).catch((cause: NodeJS.ErrnoException) => {
      const why = cause.code ?? cause.message;
      throw new CliError("failed", `cannot write ${nameOf(object)} to ${path} (${why}): make the folder writable`, {
        cause,
      });
    });
  }
}
