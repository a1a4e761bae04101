import { KUBELET_UNIT, NODE_AGENT_UNIT } from "../../api/names.ts";
import { STATIC_POD_MANIFESTS } from "../../components/index.ts";
import { join } from "node:path";
import { UNIT_FOLDER, type MachineConfig } from "../../node-agent/wanted.ts";
import { isThere } from "../machine/is-there.ts";

/** How far a machine is on its way to carry a control plane: it has the files that etcd's tools read; etcd; or all of it. */
export type Stage = "files" | "etcd" | "all";

const STAGES: readonly Stage[] = ["files", "etcd", "all"];

/** Those that begin when the machine has an API server of its own: the second one has the name of all of them lead to that. */
const LAST: readonly string[] = [NODE_AGENT_UNIT, "name-api-servers.service"];
const ETCD_MANIFESTS = ["etcd-main", "etcd-events"].map((name) => `${STATIC_POD_MANIFESTS}/${name}.yaml`);

/** The configuration at this stage, or at the one that the machine has reached: what was begun is not taken back. */
export async function atStage(config: MachineConfig, stage: Stage, root: string): Promise<MachineConfig> {
  const reached = await stageOf(root);
  return select(config, STAGES.indexOf(reached) > STAGES.indexOf(stage) ? reached : stage);
}

/** What is there says it. */
async function stageOf(root: string): Promise<Stage> {
  const hasUnit = async (name: string) => await isThere(join(root, UNIT_FOLDER, name));
  if (await hasUnit(NODE_AGENT_UNIT)) return "all";
  return (await hasUnit(KUBELET_UNIT)) ? "etcd" : "files";
}

function select({ spec, ...rest }: MachineConfig, stage: Stage): MachineConfig {
  if (stage === "all") return { ...rest, spec };
  const { files = [], units = [] } = spec;
  const isManifest = (path: string) => path.startsWith(`${STATIC_POD_MANIFESTS}/`);
  if (stage === "files") return { spec: { files: files.filter(({ path }) => isToolOrFile(path)) } };
  return {
    ...rest,
    spec: {
      files: files.filter(({ path }) => !isManifest(path) || ETCD_MANIFESTS.includes(path)),
      units: units.filter(({ name }) => !LAST.includes(name)),
    },
  };
}

const isToolOrFile = (path: string): boolean =>
  path.startsWith("/opt/bin/etcd") || path.startsWith("/var/lib/static-pods/");
