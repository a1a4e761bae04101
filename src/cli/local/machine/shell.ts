import { defineCommand } from "../../command.ts";
import { anyNumber, required } from "../../option.ts";
import { openMachines, requireMachines, setOption } from "./machines.ts";

/** `perennial local machine shell` */
export const shell = defineCommand({
  name: "shell",
  summary: "Run a shell or a command in a machine as root; ends with its exit code",
  description:
    "Words behind -- are the command. Its standard input and output are those of this command, so files and images go in and " +
    "out through a pipe.",
  examples: [
    "perennial local machine shell a",
    "perennial local machine shell a -- systemctl is-system-running",
    "perennial local machine shell a -- tar --extract --directory /root < config.tar",
    "perennial local machine shell a -- ctr --namespace k8s.io images import - < image.tar",
  ],
  args: { name: required("The machine"), command: anyNumber("The command; without one, a login shell") },
  options: { set: setOption },
  async run({ args: { name, command }, options: { set }, context }) {
    const machines = await openMachines(set, context);
    await requireMachines(machines, [name], set);
    return await machines.shell(name, command);
  },
});
