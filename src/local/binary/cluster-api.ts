import type { BuildPin } from "./pin.ts";

/** A program of Cluster API's main module; the module of its API, which that one replaces by a folder, goes beside it. */
export function buildClusterApi(release: string, folder: string, minutes: number): BuildPin {
  const module = "sigs.k8s.io/cluster-api";
  const version = `v${release}`;
  const [major, minor] = release.split(".");
  const told = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return {
    package: `${module}/${folder}`,
    go: "1.26.0",
    require: { [module]: version, [`${module}/api`]: version },
    ldflags: Object.entries(told)
      .map(([variable, value]) => `-X ${module}/version.${variable}=${value}`)
      .join(" "),
    minutes,
  };
}
