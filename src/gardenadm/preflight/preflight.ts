import type { NodeRole } from "../../api/names.ts";
import { carriesControlPlane, type Candidate, type Findings } from "./candidate.ts";
import { clockFaults } from "./clock.ts";
import { containerdFindings } from "./containerd.ts";
import { diskFindings } from "./disk.ts";
import { hostNameFaults } from "./host-name.ts";
import { memoryFaults } from "./memory.ts";
import { networkFaults } from "./networks.ts";
import { portFaults } from "./ports.ts";
import { isThere } from "../machine/is-there.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";
import { resolverFindings } from "./resolver.ts";
import { strangerFaults } from "./strangers.ts";
import { swapFindings } from "./swap.ts";
import { systemdFaults } from "./systemd.ts";

/**
 * Every reason why this machine cannot become what it is to be, and what will be felt when it has. It takes some seconds at most, and
 * changes nothing, but that it starts containerd where it is there and down.
 */
export async function preflight(candidate: Candidate, role: NodeRole): Promise<Findings> {
  const { userId = process.getuid?.(), isBegun } = candidate;
  if (userId !== 0)
    return { faults: [`gardenadm runs as user ${String(userId)}: run it as root, such as by sudo`], warnings: [] };
  const fresh = isBegun ? [] : await freshFaults(candidate, role);
  const found: (readonly string[] | Findings)[] = [
    hostNameFaults(candidate),
    memoryFaults(candidate, role),
    clockFaults(candidate),
    ...(await Promise.all([
      systemdFaults(candidate),
      containerdFindings(candidate),
      swapFindings(candidate),
      resolverFindings(candidate),
      ...fresh,
      ...(isBegun || !carriesControlPlane(role) ? [] : [diskFindings(candidate)]),
    ])),
  ];
  return together(found.map((one) => ("faults" in one ? one : { faults: one, warnings: [] })));
}

/** What only a machine is asked on which gardenadm has not begun. */
async function freshFaults(candidate: Candidate, role: NodeRole): Promise<readonly (string[] | Promise<string[]>)[]> {
  if (await isThere(agentPlacesIn(candidate.root).pool)) return [[IS_NODE]];
  return [strangerFaults(candidate), portFaults(candidate, role), networkFaults(candidate)];
}

const IS_NODE =
  "this machine belongs to a cluster of gardenadm's, or began to join one: 'gardenadm status' says how it stands, and 'gardenadm reset' takes it out";

const together = (found: readonly Findings[]): Findings => ({
  faults: found.flatMap(({ faults }) => faults),
  warnings: found.flatMap(({ warnings }) => warnings),
});
