import { answerOf } from "./answer.ts";
import type { Candidate } from "./candidate.ts";
import { isReadable } from "./readable.ts";

/** Why units cannot be run here. */
export async function systemdFaults({
  root,
  systemctl,
}: Pick<Candidate, "root" | "systemctl">): Promise<readonly string[]> {
  if (!(await isReadable(root, "/run/systemd/system")))
    return ["systemd is not the init system of this machine: use one that it has booted"];
  const asked = ["list-units", "--no-legend", "basic.target"];
  return (await answerOf(systemctl, asked, "systemd does not answer; see 'systemctl status'")).faults;
}
