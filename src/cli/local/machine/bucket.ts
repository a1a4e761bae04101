import { defaultSet } from "../../../api/command-lines.ts";
import { defineCommand } from "../../command.ts";
import { printObject } from "../../display/output.ts";
import { choice } from "../../option.ts";
import { setOption } from "./machines.ts";

/** `perennial local machine bucket` */
export const bucket = defineCommand({
  name: "bucket",
  summary: "Serve an S3 bucket to the machines of a set, and show where it is and its credentials",
  description:
    "What is shown is the content of a Secret for backups of provider s3. The bucket keeps what is in it when its process dies; " +
    "the same command starts it again. It goes with the set's last machine.",
  examples: ["perennial local machine bucket", "perennial local machine bucket --output yaml"],
  args: {},
  options: { set: setOption, output: choice(["json", "yaml"], "Output", "o") },
  async run({ options: { set, output }, context: { terminal } }) {
    const [{ ensureBucket }, { createLogger }] = await Promise.all([
      import("../../../local/bare/bucket.ts"),
      import("../../../log.ts"),
    ]);
    const log = createLogger({ name: "local", level: "silent" });
    const found = await ensureBucket(set ?? defaultSet, log, (message) => void terminal.err.write(`${message}\n`));
    if (output) return printObject(terminal.out, found, output);
    for (const [key, value] of Object.entries(found)) terminal.out.write(`${key}: ${value}\n`);
  },
});
