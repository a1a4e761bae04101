import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, resolve } from "node:path";
import type { Kubeconfig } from "../kube/index.ts";
import { CliError, explainError } from "./exit.ts";

/** A kubeconfig file, and what errors call it: by its path, and by the variable that names it. */
export interface KubeconfigFile {
  readonly file: string;
  readonly called: string;
  readonly isLocal?: boolean;
}

/** The first file that exists of those that kubectl's variable `KUBECONFIG` names; undefined where it names none. */
export function kubeconfigOfVariable(named: string | undefined): KubeconfigFile | undefined {
  if (!named) return undefined;
  const file = named.split(delimiter).find((file) => file !== "" && existsSync(file)) ?? named;
  return { file, called: `${file} (from $KUBECONFIG)` };
}

/** What the file says; throws what it lacks, and the remedy. */
export async function readKubeconfig({ file, called }: KubeconfigFile): Promise<Kubeconfig> {
  const { parseKubeconfig } = await import("../kube/index.ts");
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    const remedy = cause.code === "EACCES" ? "run this as root, or name another" : "name an existing file";
    throw new CliError("usage", `cannot read kubeconfig ${called}: ${remedy} with --kubeconfig`, { cause });
  });
  try {
    return parseKubeconfig(text, dirname(resolve(file)), `kubeconfig ${called}`);
  } catch (cause) {
    const { sentence } = explainError(cause);
    throw new CliError("usage", `${sentence}; mend it, or name another with --kubeconfig`, { cause });
  }
}
