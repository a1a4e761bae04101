import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Run } from "../../../src/node-agent/commands.ts";
import { extractFile } from "../../../src/node-agent/image-file.ts";

const IMAGE = "registry.example/agent:1";

test("a file of an image becomes the machine's, with its mode, and by a link within the image, too", async () => {
  const { folder, ctr } = await machine(async (mount) => {
    await put(join(mount, "opt/agent"), "program");
    await symlink("../opt/agent", join(mount, "opt/link"));
  });
  for (const filePathInImage of ["/opt/agent", "opt/link"]) {
    const path = join(folder, "usr/bin/agent");
    await extractFile(ctr, { image: IMAGE, filePathInImage }, { path, mode: 0o755, mount: join(folder, "mount") });
    expect(await readFile(path, "utf8")).toBe("program");
    expect((await stat(path)).mode & 0o777).toBe(0o755);
  }
});

test.each(["/etc/shadow-of-image", "../secret", "opt", "gone", "through/secret"])(
  "an image gives nothing of the machine: %s",
  async (filePathInImage) => {
    const { folder, ctr, mounted } = await machine(async (mount, outside) => {
      await put(join(mount, "opt/agent"), "program");
      await mkdir(join(mount, "etc"));
      await symlink(join(outside, "secret"), join(mount, "etc/shadow-of-image"));
      await symlink(outside, join(mount, "through"));
    });
    const path = join(folder, "usr/bin/agent");
    await expect(
      extractFile(ctr, { image: IMAGE, filePathInImage }, { path, mode: 0o755, mount: join(folder, "mount") }),
    ).rejects.toThrow(`image ${IMAGE} has no file ${filePathInImage}; correct the path in it, or the image`);
    await expect(stat(path)).rejects.toThrow("ENOENT");
    expect(mounted()).toBe(false);
  },
);

/** A machine with a secret file beside the folder in which images are looked at; its containerd has one image, filled by `fill`. */
async function machine(fill: (mount: string, outside: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "image-file-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await put(join(folder, "secret"), "the machine's own");
  let isMounted = false;
  const ctr: Run = async ([, verb, ...args]) => {
    const mount = args.at(-1) ?? "";
    if (verb === "list") return IMAGE;
    if (verb === "mount") await fill(mount, folder);
    if (verb === "unmount") {
      await rm(mount, { recursive: true, force: true });
      await mkdir(mount);
    }
    isMounted = verb === "mount";
    return "";
  };
  return { folder, ctr, mounted: () => isMounted };
}

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
