import { setTimeout as delay } from "node:timers/promises";
import { commandLines } from "../../api/command-lines.ts";
import type { Exec } from "./exec.ts";

/** Returns when the machine's systemd has started all units, or has seen some fail; throws after two minutes. */
export async function untilStarted(exec: Exec, name: string, set: string): Promise<void> {
  let state = "";
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await delay(100)) {
    const { stdout, stderr } = await exec(name, ["timeout", "60", "systemctl", "is-system-running", "--wait"]);
    if (stdout === "running" || stdout === "degraded") return;
    state = stdout || stderr;
  }
  throw new Error(
    `machine ${name} has not started within two minutes (${state}): its journal says why, ` +
      `'${commandLines.showJournal(name, set)}'`,
  );
}
