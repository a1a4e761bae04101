/** Compiles src into dist: JavaScript and declarations, as the package and the image ship them. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = join(root, "node_modules/typescript-7/bin/tsc"); // typescript-eslint needs the API of the release before it
const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
