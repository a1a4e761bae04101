import type { ExtensionKind } from "../index.ts";

const second = 1_000;
const minute = 60 * second;

/** Gardener's severe thresholds and time-outs by kind, in ms (package constants of `pkg/component/extensions`). */
export const timeouts: Readonly<Record<ExtensionKind, { readonly severeAfter: number; readonly deadline: number }>> = {
  Infrastructure: { severeAfter: 3 * minute, deadline: 10 * minute },
  ControlPlane: { severeAfter: 30 * second, deadline: 3 * minute },
  Worker: { severeAfter: 30 * second, deadline: 10 * minute },
  OperatingSystemConfig: { severeAfter: 30 * second, deadline: 3 * minute },
  Network: { severeAfter: 30 * second, deadline: 3 * minute },
  BackupEntry: { severeAfter: 30 * second, deadline: 10 * minute },
  DNSRecord: { severeAfter: 15 * second, deadline: 2 * minute },
};
