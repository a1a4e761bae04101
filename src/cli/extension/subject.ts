import { readFile } from "node:fs/promises";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Fields, Subject } from "../../conformance/subject.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { parseYaml, parseYamlDocuments } from "../../parsing.ts";
import { CliError } from "../exit.ts";

/** The files that say what a controller on trial is given. */
export interface SubjectFiles {
  readonly providerConfig: string | undefined;
  readonly failingConfig: string | undefined;
  readonly spec: string | undefined;
  readonly cluster: string | undefined;
  readonly objects: string | undefined;
}

/** Reads them; throws which one is wrong, and never what stands in it. */
export async function readSubject(files: SubjectFiles): Promise<Omit<Subject, "kind" | "type">> {
  return omitUndefined({
    providerConfig: await readFields(files.providerConfig),
    failingConfig: await readFields(files.failingConfig),
    spec: await readFields(files.spec),
    cluster: await readFields(files.cluster),
    objects: await readObjects(files.objects),
  });
}

async function readFields(file: string | undefined): Promise<Fields | undefined> {
  if (file === undefined) return undefined;
  const content = parseYaml(await read(file), file);
  if (!isFields(content)) throw new CliError("usage", `${file} holds no fields: write YAML such as 'region: local'`);
  return content;
}

async function readObjects(file: string | undefined): Promise<readonly KubeObject[] | undefined> {
  if (file === undefined) return undefined;
  return parseYamlDocuments(await read(file), file).map((document): KubeObject => {
    const { kind, apiVersion, metadata } = (document ?? {}) as Partial<KubeObject>;
    if (kind === undefined || apiVersion === undefined || metadata?.name === undefined)
      throw new CliError("usage", `${file} holds something that is no manifest: each has apiVersion, kind and a name`);
    return document as KubeObject;
  });
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new CliError("usage", `cannot read ${file}: ${(cause as NodeJS.ErrnoException).code ?? "no such file"}`, {
      cause,
    });
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
