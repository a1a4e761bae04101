import type { BuildPin } from "./pin.ts";

/** A program of Gardener's main module; the module of its APIs, which that one replaces by a folder, goes beside it. */
export function buildGardener(release: string, name: string): BuildPin {
  const module = "github.com/gardener/gardener";
  const version = `v${release}`;
  return {
    package: `${module}/cmd/${name}`,
    go: "1.26.5",
    require: { [module]: version, [`${module}/pkg/apis`]: version },
    ldflags: `${told(version)} -X ${variable}/verflag.programName=${name}`,
    minutes: 3,
  };
}

/** A program of the extension for Calico: its controllers in seeds, or its admission for gardens. */
export function buildCalico(release: string, name: string): BuildPin {
  const module = "github.com/gardener/gardener-extension-networking-calico";
  const version = `v${release}`;
  return {
    package: `${module}/cmd/${name}`,
    go: "1.26.0",
    require: { [module]: version },
    ldflags: told(version),
    minutes: 35,
  };
}

const variable = "k8s.io/component-base/version";
const told = (version: string): string => `-X ${variable}.gitVersion=${version}`;
