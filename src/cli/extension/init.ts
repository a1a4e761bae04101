import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { packageRoot } from "../../package.ts";
import { defineCommand } from "../command.ts";
import { CliError } from "../exit.ts";
import { required, text } from "../option.ts";

/** `perennial extension init` */
export const init = defineCommand({
  name: "init",
  summary: "Make the project of a new extension: it builds, has tests, a chart and a ControllerRegistration",
  examples: ["perennial extension init greeter", "perennial extension init greeter --directory work/greeter"],
  args: { name: required("Its type, and after extension- its name") },
  options: { directory: text("directory", "Where, a new or an empty directory [extension-NAME]") },
  async run({ args: { name }, options, context }) {
    if (!/^[a-z]([-a-z0-9]{0,40}[a-z0-9])?$/.test(name))
      throw new CliError(
        "usage",
        `an extension cannot be called "${name}": use a-z, 0-9 and -, beginning with a letter`,
      );
    const directory = resolve(options.directory ?? `extension-${name}`);
    if (existsSync(directory) && (await readdir(directory)).length > 0)
      throw new CliError("usage", `${directory} is not empty: name another one with --directory`);
    await writeProject(directory, await wordsFor(name));
    context.terminal.out.write(`extension ${name} is in ${directory}: its README.md says how to go on\n`);
    if (!existsSync(join(packageRoot, "dist")))
      context.terminal.out.write(
        `its npm install takes perennial from ${packageRoot}: run \`npm run build\` there first\n`,
      );
  },
});

/** Copies the template with its words filled in; what is hidden there has its dot only in the copy. */
async function writeProject(directory: string, words: Readonly<Record<string, string>>): Promise<void> {
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    const source = join(entry.parentPath, entry.name);
    const path = relative(template, source).replace(/^(gitignore|npmrc|dockerignore)$/, ".$1");
    const content = (await readFile(source, "utf8")).replaceAll(/__[A-Z_]+__/g, (word) => words[word] ?? word);
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
}

/** The packages in the versions that this one is made with; this one itself from where it is. */
async function wordsFor(name: string): Promise<Record<string, string>> {
  const { version, devDependencies } = JSON.parse(await readFile(join(packageRoot, "package.json"), "utf8")) as Package;
  const installed = packageRoot.includes("/node_modules/");
  return {
    __NAME__: name,
    __PERENNIAL__: installed ? version : `file:${packageRoot}`,
    __TYPES_NODE__: devDependencies["@types/node"] ?? "24",
    __TYPESCRIPT__: devDependencies["typescript"] ?? "latest",
  };
}

interface Package {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const template = join(packageRoot, "templates/extension");
