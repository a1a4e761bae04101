import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";

const pathOf = (module: string): string =>
  JSON.stringify(fileURLToPath(new URL(`../../src/${module}`, import.meta.url)));

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-own-disk-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Runs a call of the module where a disk is mounted on `data disk` of the folder, and a file is on it; what is there afterwards. */
async function withDisk(call: string, path = ""): Promise<string> {
  const program = `import { removeBut, unmountBelow } from ${pathOf("gardenadm/reset/remove-folder.ts")};
import { removeStateFolder } from ${pathOf("local/environment/state-folder.ts")};
const [folder] = process.argv.slice(1);
await ${call}.catch((error) => console.log(error.message));`;
  const script = `mkdir -p "$1/data disk" && mount -t tmpfs none "$1/data disk" && mkdir "$1/data disk/member" && echo a > "$1/data disk/member/db"
PATH="$4$PATH" "$2" --input-type=module --eval "$3" "$1"; cd "$1" && find . -mindepth 1 | sort`;
  const words = ["--mount", "sh", "-ec", script, "sh", folder, process.execPath, program, path];
  const { stdout } = await promisify(execFile)("unshare", words);
  return stdout.replaceAll(folder, "FOLDER");
}

test("a disk that is mounted below a folder stays where it is, and everything else goes", async () => {
  await writeFile(join(folder, "has-data"), "a");
  expect(await withDisk('removeBut(folder, "/kept")')).toBe("./data disk\n");
});

test("what is mounted below a folder is unmounted before that is removed, and its data stay on it", async () => {
  expect(await withDisk("unmountBelow(folder, AbortSignal.timeout(10_000))")).toBe("./data disk\n");
});

test("what is mounted below a folder to which a link leads is unmounted before that is removed", async () => {
  const link = join(folder, "..", `${basename(folder)}-link`);
  await symlink(folder, link);
  try {
    const call = `unmountBelow(${JSON.stringify(link)}, AbortSignal.timeout(10_000))`;
    expect(await withDisk(call)).toBe("./data disk\n");
    expect(await withDisk(`${call}.then(() => removeBut(${JSON.stringify(link)}, "/kept"))`)).toBe("");
  } finally {
    await rm(link);
  }
});

test("what is mounted below an environment's folder keeps its data, also where a link leads to the folder", async () => {
  const link = `${folder}-environments`;
  await symlink(folder, link);
  await mkdir(join(folder, "local"));
  const mounting = `import("node:child_process").then(({ execFileSync }) =>
    execFileSync("mount", ["--bind", folder + "/data disk", folder + "/local"]))`;
  const removal = `removeStateFolder({ stateDir: ${JSON.stringify(join(link, "local"))} })`;
  try {
    expect(await withDisk(`${mounting}.then(() => ${removal})`)).toBe(
      "./data disk\n./data disk/member\n./data disk/member/db\n",
    );
  } finally {
    await rm(link);
  }
});

test("a folder is not removed while something below it stays mounted", async () => {
  const programs = join(folder, "bin");
  await mkdir(programs);
  await writeFile(join(programs, "umount"), "#!/bin/sh\nexit 32\n", { mode: 0o755 });
  const call = "unmountBelow(folder, AbortSignal.timeout(10_000)).then(() => removeBut(folder, folder))";
  const said = await withDisk(call, `${programs}:`);
  expect(said).toContain(
    "cannot remove FOLDER: what is mounted at FOLDER/data disk stays mounted, and the data of a volume would go with the folder; unmount it by hand",
  );
  expect(said).toContain("./data disk/member/db\n");
});
