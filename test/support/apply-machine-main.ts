import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { applyMachine } from "../../src/node-agent/apply-machine.ts";
import { createCtr, createSystemctl } from "../../src/node-agent/commands.ts";
import type { MachineConfig } from "../../src/node-agent/wanted.ts";

// Applies the configuration of a file to <dir>/root, and kills itself before it does what it says as the nth thing.
const [dir = "", file = "", deadly = "0"] = process.argv.slice(2);

let said = 0;
const config = JSON.parse(await readFile(file, "utf8")) as MachineConfig;
process.stdout.write("ready\n");
await applyMachine(
  {
    hostName: "m",
    root: join(dir, "root"),
    systemctl: createSystemctl(join(dir, "systemctl")),
    ctr: createCtr({ program: join(dir, "ctr") }),
    readSecret: async () => Buffer.from("from a Secret"),
  },
  config,
  {
    tell() {
      said += 1;
      if (said === Number(deadly)) process.kill(process.pid, "SIGKILL");
    },
  },
);
