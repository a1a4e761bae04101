import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensureProgramImage } from "../../../src/local/image/program-image.ts";
import { createLogger } from "../../../src/log.ts";

const log = createLogger({ name: "test", level: "silent" });

test("of an image that is built anew, old builds go, but for the last ones and those that may be read just now", async () => {
  const folder = await mkdtemp(join(tmpdir(), "program-image-"));
  onTestFinished(async () => await rm(folder, { recursive: true }));
  const ages = { "x_1-a.tar": 1, "x_1-b.tar": 2, "x_1-c.tar": 9, "x_1-d.tar": 90, "x_1-e.tar": 900, "y_1-a.tar": 900 };
  for (const [name, minutes] of Object.entries(ages)) {
    await writeFile(join(folder, name), "");
    const time = Date.now() / 1_000 - minutes * 60;
    await utimes(join(folder, name), time, time);
  }
  const describe = async () => await Promise.resolve({ files: [], entrypoint: ["/x"] });
  const { code } = await ensureProgramImage(() => "x:1", describe, folder, log);
  const kept = (await readdir(folder)).filter((name) => name.endsWith(".tar"));
  expect(kept.toSorted()).toEqual(["x_1-a.tar", "x_1-b.tar", "x_1-c.tar", "y_1-a.tar", `x_1-${code}.tar`].toSorted());
});
