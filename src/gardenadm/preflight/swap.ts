import { HOST_SETTINGS } from "../../components/index.ts";
import type { Candidate, Findings } from "./candidate.ts";
import { hostSettings } from "./host-settings.ts";
import { textOf } from "./readable.ts";

/**
 * Why the kubelet of the machine's pool would end itself because the machine swaps. Where the pool is not known yet, it may be one
 * that allows it: then that is a warning.
 */
export async function swapFindings({ root, demands }: Pick<Candidate, "root" | "demands">): Promise<Findings> {
  const [, ...lines] = (await textOf(root, "/proc/swaps")).trim().split("\n");
  const devices = lines.map((line) => line.split(/\s+/)[0]);
  const fails = (await hostSettings(root)).failSwapOn ?? demands?.failSwapOn ?? true;
  if (devices.length === 0 || !fails) return { faults: [], warnings: [] };
  const sentence =
    `the machine swaps to ${devices.join(", ")}, which kubelets refuse: run 'swapoff --all' and take it out of /etc/fstab, ` +
    `or write failSwapOn: false into ${HOST_SETTINGS}/50-swap.conf`;
  return demands === undefined ? { faults: [], warnings: [sentence] } : { faults: [sentence], warnings: [] };
}
