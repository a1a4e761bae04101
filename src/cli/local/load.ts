import { existsSync } from "node:fs";
import { commandLines } from "../../api/command-lines.ts";
import { defineCommand } from "../command.ts";
import { CliError } from "../exit.ts";
import { required } from "../option.ts";
import { chooseEnvironment, nameOption } from "./options.ts";

/** `perennial local load` */
export const load = defineCommand({
  name: "load",
  summary: "Give the seeds' machines an image, so that pods find it without a registry",
  description: "The file is an archive of images, as docker save or podman save writes it.",
  examples: ["docker save --output greeter.tar extension-greeter:0.1.0", "perennial local load greeter.tar"],
  args: { file: required("The archive") },
  options: { name: nameOption },
  async run({ args: { file }, options, context }) {
    const { findEnvironment } = await import("../../local/environment/file.ts");
    const { loadImage } = await import("../../local/environment/load-image.ts");
    if (!existsSync(file)) throw new CliError("notFound", `there is no file ${file}`);
    const choice = chooseEnvironment(options.name, context.variables);
    const environment = await findEnvironment(choice);
    if (environment === undefined)
      throw new CliError(
        "notFound",
        `environment ${choice.name ?? "local"} is not up: start it with '${commandLines.localUp(choice.name)}'`,
      );
    const machines = await loadImage(environment, file);
    if (machines.length === 0)
      throw new CliError(
        "usage",
        `environment ${environment.name} has no machines of seeds: push the image to a registry`,
      );
    context.terminal.out.write(`${machines.join(", ")}: ${file} is loaded\n`);
  },
});
