import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Raw } from "../../api/index.ts";

/** A chart, and what it is rendered for. */
export interface Rendering {
  /** The packaged chart. */
  readonly chart: Uint8Array;
  readonly release: string;
  readonly namespace: string;
  readonly values: Raw;
  /** Of the cluster that the manifests are for. */
  readonly kubeVersion: string;
}

/** A chart in a registry. */
export interface OciChart {
  /** `registry/repository`, with a tag or a digest. */
  readonly ref: string;
  /** Content of a docker config file with the registry's credentials. */
  readonly dockerConfig?: string;
  /** The authorities that sign the registry's certificate, PEM. */
  readonly ca?: string;
}

/** The real Helm, without any cluster at hand: `lookup` finds nothing, and hooks are only written out. */
export interface Helm {
  /** The manifests of a chart, its CRDs included; throws what Helm says where it does not render. */
  template(rendering: Rendering): Promise<string>;
  /** The packaged chart; throws what Helm says where it cannot be had. */
  pull(chart: OciChart): Promise<Uint8Array>;
}

/** Runs the binary in a folder of its own that is gone afterwards, with nothing of this process' environment. */
export function createHelm({ binary }: { readonly binary: string }): Helm {
  const run = async (args: readonly string[], home: string): Promise<string> => {
    const env = {
      HOME: home,
      HELM_CACHE_HOME: home,
      HELM_CONFIG_HOME: home,
      HELM_DATA_HOME: home,
      PATH: "/usr/local/bin:/usr/bin:/bin",
    };
    const limits = { timeout: TIMEOUT, killSignal: "SIGKILL", maxBuffer: LARGEST_OUTPUT } as const;
    try {
      return (await promisify(execFile)(binary, [...args], { cwd: home, env, ...limits })).stdout;
    } catch (error) {
      throw new Error(whatHelmSays(error), { cause: error });
    }
  };

  return {
    template: ({ chart, release, namespace, values, kubeVersion }) =>
      inFolder(async (home) => {
        await writeFile(join(home, "chart.tgz"), chart);
        // Helm reads YAML 1.1, in which a bare "no" is false; JSON says the same in both.
        await writeFile(join(home, "values.json"), JSON.stringify(values));
        const flags = ["--namespace", namespace, "--values", "values.json", "--kube-version", kubeVersion];
        return await run(["template", release, "chart.tgz", ...flags, "--include-crds", "--skip-tests"], home);
      }),
    pull: ({ ref, dockerConfig, ca }) =>
      inFolder(async (home) => {
        if (dockerConfig !== undefined) await writeFile(join(home, "auth.json"), dockerConfig, { mode: 0o600 });
        if (ca !== undefined) await writeFile(join(home, "ca.crt"), ca);
        await run(
          [
            ...["pull", `oci://${ref}`],
            ...(dockerConfig === undefined ? [] : ["--registry-config", "auth.json"]),
            ...(ca === undefined ? [] : ["--ca-file", "ca.crt"]),
            ...(isLoopback(ref) && ca === undefined ? ["--plain-http"] : []),
          ],
          home,
        );
        const [file] = (await readdir(home)).filter((name) => name.endsWith(".tgz"));
        if (file === undefined) throw new Error(`${ref} is not a chart`);
        return await readFile(join(home, file));
      }),
  };
}

/** In ms: what renders longer than this is broken. */
const TIMEOUT = 60_000;

/** In bytes. */
const LARGEST_OUTPUT = 64 * 1024 * 1024;

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-helm-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** As container runtimes have it: a registry on this machine may do without TLS. */
const isLoopback = (ref: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])(:\d+)?\//.test(ref);

/** The lines in which Helm says what is wrong, without its debugging hints. */
function whatHelmSays(error: unknown): string {
  const { stderr = "", killed = false, code } = error as { stderr?: string; killed?: boolean; code?: unknown };
  if (code === "ENOENT") return "there is no Helm: set PERENNIAL_HELM to its binary";
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return `it renders to more than ${LARGEST_OUTPUT / 2 ** 20} MB`;
  if (killed) return `Helm was still at it after ${TIMEOUT / 1000} s`;
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !/^(WARNING|Use --debug|level=)/.test(line));
  return (
    lines
      .join(" ")
      .replace(/^Error: /, "")
      .slice(0, 1_000) || "Helm failed and said nothing"
  );
}
