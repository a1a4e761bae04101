import { knownGates } from "../admission/shoot/known-gates.ts";
import { GARDENER_VERSION } from "../api/names.ts";
import { printObject } from "../cli/display/output.ts";
import { choice } from "../cli/option.ts";
import { imagesFor } from "../components/context.ts";
import { readVersion } from "../package.ts";
import { defineCommand } from "./context.ts";

/** `gardenadm version` */
export const version = defineCommand({
  name: "version",
  summary: "Print the version, and the versions that it serves",
  description:
    "Those of Kubernetes are minor versions of the clusters that it makes, and those of the garden are minor versions of Gardener: " +
    "the one whose objects it writes, and the next one, as upstream has it. `gardenadm --version` and `gardenadm -V` do the same.",
  args: {},
  options: { output: choice(["json", "yaml"], "Output", "o") },
  async run({ options, context: { terminal } }) {
    const versions = { gardenadm: await readVersion(), node: process.versions.node, ...servedVersions() };
    if (options.output) return printObject(terminal.out, versions, options.output);
    const { kubernetes, etcd, garden } = versions;
    terminal.out.write(
      `gardenadm ${versions.gardenadm} (Node.js ${versions.node})\n` +
        `serves Kubernetes ${kubernetes.join(", ")} with etcd ${etcd}, and gardens of Gardener ${garden.join(", ")}\n`,
    );
  },
});

/** The minor versions of Kubernetes, the version of etcd, and the minor versions of the Gardener whose gardens are served. */
function servedVersions() {
  const kubernetes = Object.keys(knownGates);
  const [, etcd = ""] = /etcd:(\d+\.\d+\.\d+)/.exec(imagesFor(`${kubernetes[0] ?? ""}.0`).etcd) ?? [];
  const [, major = "", minor = ""] = /^v?(\d+)\.(\d+)\./.exec(GARDENER_VERSION) ?? [];
  return { kubernetes, etcd, garden: [`${major}.${minor}`, `${major}.${Number(minor) + 1}`] };
}
