import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { GARDENADM_IMAGE } from "../../../src/api/names.ts";
import { imagesFor } from "../../../src/components/index.ts";
import { ownProgram } from "../../../src/components/node/own-program.ts";

test("machines take the gardenadm of this very version", async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, "../../../package.json"), "utf8")) as {
    readonly version: string;
  };
  expect(GARDENADM_IMAGE).toBe(`perennial.dev/gardenadm:${version}`);
});

test("the script that takes it out of its image is one that bash understands, and names that image", async () => {
  const [file] = ownProgram({ images: imagesFor("1.34.4") }).files ?? [];
  const text = file?.content.inline?.data ?? "";
  expect(text).toContain(`image=${GARDENADM_IMAGE}\n`);
  await expect(promisify(execFile)("bash", ["-n", "-c", text])).resolves.toMatchObject({ stderr: "" });
});
