import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { extract } from "tar-stream";
import { expect, onTestFinished, test } from "vitest";
import { writeImagesTar } from "../../../src/local/image/tar.ts";

test("an archive of several images has each by its name and with its own command, and the layer that they share once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "image-tar-"));
  onTestFinished(async () => await rm(folder, { recursive: true }));
  const [base, file] = [join(folder, "base"), join(folder, "images.tar")];
  await writeFile(base, "a layer");
  const files = (content: string) => [{ path: "/etc/name", text: content, mode: 0o644 }];
  await writeImagesTar(
    [
      { name: "one:1", base, files: files("one"), entrypoint: ["/run"], command: ["pause"] },
      { name: "two:1", base, files: files("two"), user: 1234 },
    ],
    file,
  );
  const entries = await entriesOf(file);
  const blobs = new Map(entries);
  const read = (digest: string) => JSON.parse(blobs.get(`blobs/${digest.replace(":", "/")}`) ?? "") as Document;
  const index = JSON.parse(blobs.get("index.json") ?? "") as Document;
  const manifests = (index.manifests ?? []).map(({ digest }) => read(digest));
  expect(index.manifests?.map(({ annotations }) => annotations?.["io.containerd.image.name"])).toEqual([
    "one:1",
    "two:1",
  ]);
  expect(manifests.map(({ config }) => read(config?.digest ?? "").config)).toMatchObject([
    { Entrypoint: ["/run"], Cmd: ["pause"] },
    { User: "1234" },
  ]);
  const [one, two] = manifests.map(({ layers = [] }) => layers.map(({ digest }) => digest));
  expect(one?.[0]).toBe(two?.[0]);
  expect(one?.[1]).not.toBe(two?.[1]);
  expect(entries.filter(([, content]) => content === "a layer")).toHaveLength(1);
  expect(await readdir(folder)).toEqual(["base", "images.tar"]);
});

interface Descriptor {
  readonly digest: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Document {
  readonly manifests?: readonly Descriptor[];
  readonly layers?: readonly Descriptor[];
  readonly config?: Descriptor;
}

/** Names and contents of what is in a tar, in order. */
async function entriesOf(file: string): Promise<[string, string][]> {
  const entries: [string, string][] = [];
  for await (const entry of createReadStream(file).pipe(extract()))
    entries.push([entry.header.name, await text(entry)]);
  return entries;
}
