import { execa } from "execa";

/** The folder of a Go module as it is published; it is downloaded unless it is there. Nothing in it can be written. */
export async function moduleFolder(module: string, version: string): Promise<string> {
  const { stdout } = await execa("go", ["mod", "download", "-json", `${module}@v${version}`]);
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}
