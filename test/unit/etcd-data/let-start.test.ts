import { mkdir, mkdtemp, readdir, readlink, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { components } from "../../../src/components/index.ts";
import { holdToData, letFirstStart, letStart, mayStartWith } from "../../../src/etcd-data/let-start.ts";
import { dataPlaceOf, markData, type DataPlace } from "../../../src/etcd-data/place.ts";
import { replaceData } from "../../../src/etcd-data/replace.ts";
import { selfHostedContext } from "../../support/self-hosted-control-plane.ts";

let root: string;
let place: DataPlace;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "let-start-"));
  place = dataPlaceOf("main", root);
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

test("an etcd on a node finds its settings among its data, by a link to where its pod has them", async () => {
  const [main] = components.etcd.objects(selfHostedContext()).filter(({ kind }) => kind === "StatefulSet");
  const text = JSON.stringify(main);
  const [, file = ""] = /"--config-file=([^"]*)"/.exec(text) ?? [];
  expect(file.startsWith("/var/etcd/data/new.etcd/member/")).toBe(true);
  await letStart(place.dataDir);
  const target = await readlink(file.replace("/var/etcd/data", dirname(place.dataDir)));
  expect(text).toContain(`"mountPath":"${dirname(target)}"`);
});

test("an etcd that nothing says has had data begins without them, until a mark says that it has had some", async () => {
  await letFirstStart(place);
  expect(await mayStartWith(place.dataDir)).toBe(true);
  await markData(place);
  await rm(join(place.dataDir, "member"), { recursive: true });
  await letFirstStart(place);
  expect(await mayStartWith(place.dataDir)).toBe(false);
});

test("data that were there before etcd had its settings among them are good to start with", async () => {
  await makeLog();
  await markData(place);
  await letFirstStart(place);
  expect(await mayStartWith(place.dataDir)).toBe(true);
});

test("an etcd that was healthy does not start without its log, and neither another look nor an init lets it", async () => {
  await letStart(place.dataDir);
  await mkdir(join(place.dataDir, "member/snap"));
  await makeLog();
  await holdToData(place);
  await holdToData(place);
  expect(await mayStartWith(place.dataDir)).toBe(true);
  await rm(join(place.dataDir, "member/wal"), { recursive: true });
  await holdToData(place);
  await letFirstStart(place);
  expect(await mayStartWith(place.dataDir)).toBe(false);
  await letStart(place.dataDir);
  expect(await mayStartWith(place.dataDir)).toBe(true);
});

async function makeLog(): Promise<void> {
  await mkdir(join(place.dataDir, "member/wal"), { recursive: true });
  await writeFile(join(place.dataDir, "member/wal/0000000000000000-0000000000000000.wal"), "");
}

test("data that take the place of others bring what etcd starts with, and no others do", async () => {
  await mkdir(join(place.dataDir, "member"), { recursive: true });
  const { aside = "" } = await replaceData(place, async (folder) => {
    expect(await mayStartWith(place.dataDir)).toBe(false);
    await mkdir(join(folder, "member"), { recursive: true });
  });
  expect([await mayStartWith(place.dataDir), await mayStartWith(aside)]).toEqual([true, false]);
  await rename(place.dataDir, `${place.dataDir}.elsewhere`);
  expect(await mayStartWith(place.dataDir)).toBe(false);
  expect(await readdir(join(`${place.dataDir}.elsewhere`, "member"))).toEqual(["etcd.yaml"]);
});
