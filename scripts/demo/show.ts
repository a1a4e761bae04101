import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Output } from "../../src/cli/display/terminal.ts";

/** Runs kubectl for everybody to see. */
export async function showKubectl(out: Output, kubectl: string, args: readonly string[]): Promise<void> {
  out.write(`\n$ kubectl ${args.join(" ")}\n`);
  const child = spawn(kubectl, args, { stdio: ["ignore", "inherit", "inherit"] });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")} failed`);
}
