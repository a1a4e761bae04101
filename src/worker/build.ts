import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { DataConverter } from "@temporalio/common";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";
import { omitUndefined } from "../omit-undefined.ts";
import { workflowsPath } from "./workflows-path.ts";
import { parseJson } from "../parsing.ts";

/** The workflow code that a worker runs, and the id by which Temporal tells it from others. */
export interface WorkflowBuild {
  readonly id: string;
  readonly bundle: WorkflowBundle;
}

/** What is bundled; `dataConverter` is that of the worker, whose failures the sandbox writes. */
export interface BuildOptions {
  readonly id?: string;
  readonly path?: string;
  readonly dataConverter?: DataConverter;
}

/**
 * Bundles workflow code. Its id, unless one is given, is the package's version and a hash of the code: workers whose
 * workflows are the same are one build, whatever else has changed, and a running flow goes on with any of them.
 */
export async function buildWorkflows(o: BuildOptions = {}): Promise<WorkflowBuild> {
  const { path = workflowsPath, dataConverter: { failureConverterPath } = {} } = o;
  const logger = new DefaultLogger("ERROR");
  const bundle = await bundleWorkflowCode({ workflowsPath: path, logger, ...omitUndefined({ failureConverterPath }) });
  return { bundle, id: o.id ?? `${await readVersion()}-${hash(bundle.code)}` };
}

/** Source maps name the files by their places on this machine. */
function hash(code: string): string {
  const bare = code.replace(/^\/\/# sourceMappingURL=.*$/gm, "");
  return createHash("sha256").update(bare).digest("hex").slice(0, 12);
}

async function readVersion(): Promise<string> {
  const file = new URL("../../package.json", import.meta.url);
  const { version } = parseJson(await readFile(file, "utf8"), file.pathname) as { version: string };
  return version;
}
