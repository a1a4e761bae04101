import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import type { DataConverter } from "@temporalio/common";
import { readVersion } from "../package.ts";
import { bundlerPath, workflowsPath } from "./paths.ts";

/** The workflow code that a worker runs, and the id by which Temporal tells it from others. */
export interface WorkflowBuild {
  readonly id: string;
  readonly bundle: { readonly code: string };
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
  const code = await bundle([path, ...(failureConverterPath === undefined ? [] : [failureConverterPath])]);
  return { bundle: { code }, id: o.id ?? `${await readVersion()}-${hash(code)}` };
}

/** In a process of its own: webpack and its compilers take 150 MB, which this one would keep. */
async function bundle(files: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [bundlerPath, ...files], { maxBuffer: 2 ** 26 });
  return stdout;
}

/** Source maps name the files by their places on this machine. */
function hash(code: string): string {
  const bare = code.replace(/^\/\/# sourceMappingURL=.*$/gm, "");
  return createHash("sha256").update(bare).digest("hex").slice(0, 12);
}
