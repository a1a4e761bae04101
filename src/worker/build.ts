import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from "@temporalio/worker";
import { workflowsPath } from "./workflows-path.ts";

/** The workflow code that a worker runs, and the id by which Temporal tells it from others. */
export interface WorkflowBuild {
  readonly id: string;
  readonly bundle: WorkflowBundle;
}

/**
 * Bundles workflow code. Its id, unless one is given, is the package's version and a hash of the code: workers whose
 * workflows are the same are one build, whatever else has changed, and a running flow goes on with any of them.
 */
export async function buildWorkflows(o: { readonly id?: string; readonly path?: string } = {}): Promise<WorkflowBuild> {
  const { path = workflowsPath } = o;
  const bundle = await bundleWorkflowCode({ workflowsPath: path, logger: new DefaultLogger("ERROR") });
  return { bundle, id: o.id ?? `${await readVersion()}-${hash(bundle.code)}` };
}

/** Source maps name the files by their places on this machine. */
function hash(code: string): string {
  const bare = code.replace(/^\/\/# sourceMappingURL=.*$/gm, "");
  return createHash("sha256").update(bare).digest("hex").slice(0, 12);
}

async function readVersion(): Promise<string> {
  const file = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(await readFile(file, "utf8")) as { version: string };
  return version;
}
