import { readFile } from "node:fs/promises";
import { commandLines } from "../../api/command-lines.ts";
import type { KubeObject } from "../../api/index.ts";
import { inWords, refOf } from "../../kube/index.ts";
import { defineCommand } from "../command.ts";
import { clusterOptions } from "../connection.ts";
import type { Output } from "../display/terminal.ts";
import { CliError } from "../exit.ts";
import { systemReason } from "../../system-error.ts";
import { required } from "../option.ts";
import { parseYamlDocuments } from "../../parsing.ts";
import { droppedParts, toRegistrations } from "../report/extension-file.ts";

/** `perennial extension install` */
export const install = defineCommand({
  name: "install",
  summary: "Register an extension from a file, which has it installed on every Seed that wants it",
  description:
    "The file holds ControllerRegistrations and ControllerDeployments, of today's shape or of earlier ones, or an Extension of upstream's operator, which is converted.",
  examples: ["perennial extension install provider-one.yaml"],
  args: { file: required("The file, in YAML") },
  options: { ...clusterOptions },
  async run({ args: { file }, options, context }) {
    const { objects, dropped } = parse(await read(file), file);
    for (const part of dropped) context.terminal.err.write(`${part}\n`);
    const garden = await context.garden(options);
    if ((await context.processes(garden)).length > 0) await getHelm(context.terminal.err);
    const { client } = garden;
    const order = ({ kind }: KubeObject) => (kind === "ControllerDeployment" ? 0 : 1); // it is referred to
    for (const object of objects.toSorted((one, other) => order(one) - order(other))) {
      const applied = await client.apply(object);
      context.terminal.out.write(`${inWords(refOf(applied))} registered\n`);
      if (applied.kind === "ControllerRegistration")
        context.terminal.err.write(`see '${commandLines.describeExtension(applied.metadata.name)}'\n`);
    }
  },
});

/** The workers of a local environment look for Helm in the cache; no environment needs it before an extension is registered. */
async function getHelm(err: Output): Promise<void> {
  const { ensureBinaries } = await import("../../local/binary/binaries.ts");
  const { createLogger } = await import("../../log.ts");
  const log = createLogger({ name: "extension", level: "silent" });
  await ensureBinaries(["helm"], { log, pinned: true, onProgress: (message) => err.write(`${message}\n`) });
}

async function read(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((cause: unknown) => {
    throw new CliError("usage", `cannot install ${file}: ${systemReason(cause) ?? String(cause)}`, { cause });
  });
}

function parse(text: string, file: string): { objects: readonly KubeObject[]; dropped: readonly string[] } {
  try {
    const documents = parseYamlDocuments(text, "it");
    const objects = toRegistrations(documents.filter((one) => one !== null));
    if (objects.length > 0) return { objects, dropped: droppedParts(documents) };
    throw new Error("there is no object in it");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CliError("usage", `cannot install ${file}: ${why}`, { cause });
  }
}
