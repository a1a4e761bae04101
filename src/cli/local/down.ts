import { defineCommand } from "../command.ts";
import { chooseEnvironment, nameOption } from "./options.ts";
import { formatDuration } from "../display/time.ts";

/** `perennial local down` */
export const down = defineCommand({
  name: "down",
  summary:
    "Take the local environment away with everything in it, its Shoots too; clusters that existed before are left alone",
  args: {},
  options: { name: nameOption },
  async run({ options, context }) {
    const { down: takeDown } = await import("../../local/environment/down.ts");
    const { findEnvironment } = await import("../../local/environment/file.ts");
    const choice = chooseEnvironment(options.name, context.variables);
    const { err } = context.terminal;
    const name = choice.name ?? "local";
    if (!(await findEnvironment(choice))) return void err.write(`Environment ${name} is not up.\n`);
    try {
      await takeDown({ ...choice, signal: context.signal }, ({ step, state, elapsed }) => {
        if (state === "done") err.write(`✔ ${step} (${formatDuration(elapsed)})\n`);
      });
    } catch (error) {
      if (!context.signal.aborted) throw error;
      err.write("Interrupted. Some of it is gone; the same command takes the rest away.\n");
      return "interrupted";
    }
    err.write(`Environment ${name} is gone.\n`);
    return undefined;
  },
});
