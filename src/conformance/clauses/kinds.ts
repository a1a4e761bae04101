import type { ExtensionKinds } from "../../api/extensions/kinds.ts";
import { lastOf } from "../chapter.ts";
import { judgeBy, type Clause } from "../clause.ts";

/** What flows take from objects of single kinds. */
export const kindClauses: readonly Clause[] = [
  {
    id: "operating-system-config.user-data",
    section: "C3",
    sentence: "An OperatingSystemConfig for provisioning names the Secret of its user data in status.cloudConfig.",
    chapter: "create",
    kinds: ["OperatingSystemConfig"],
    judge(chapter) {
      const { status } = lastOf(chapter) as ExtensionKinds["OperatingSystemConfig"];
      const { name, namespace } = status?.cloudConfig?.secretRef ?? {};
      return judgeBy(name !== undefined, `Secret ${namespace}/${name}`, "status.cloudConfig is not there");
    },
  },
  {
    id: "worker.machine-deployments",
    section: "C3",
    sentence: "A Worker lists a machine deployment for each pool, and says when it wrote that list.",
    chapter: "create",
    kinds: ["Worker"],
    judge(chapter) {
      const { spec, status } = lastOf(chapter) as ExtensionKinds["Worker"];
      const { machineDeployments = [], machineDeploymentsLastUpdateTime: time } = status ?? {};
      const names = machineDeployments.map(({ name }) => name).join(", ");
      const shown = `${machineDeployments.length} of ${spec.pools.length} pools: ${names}; written at ${time ?? "-"}`;
      return judgeBy(machineDeployments.length >= spec.pools.length && time !== undefined, shown);
    },
  },
];
