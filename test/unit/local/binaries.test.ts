import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { deflateRawSync, gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { imagesFor } from "../../../src/components/index.ts";
import { unpack } from "../../../src/local/binary/archive.ts";
import { cachePath } from "../../../src/local/binary/binaries.ts";
import { renderGoMod, renderMain } from "../../../src/local/binary/build.ts";
import { versionFits } from "../../../src/local/binary/path.ts";
import { downloadBinary, findChecksum } from "../../../src/local/binary/release.ts";
import type { BinaryPin } from "../../../src/local/binary/pin.ts";
import { binaries, versions } from "../../../src/local/binary/versions.ts";
import { createLogger } from "../../../src/log.ts";

const log = createLogger({ name: "test", level: "silent" });

describe("a binary in PATH", () => {
  it("fits when its own word is a patch of the pinned minor version", () => {
    expect(versionFits("Kubernetes v1.34.4", binaries.kubelet)).toBe(true);
    expect(versionFits("Kubernetes v1.34.9", binaries.kubelet)).toBe(true);
    expect(versionFits("Client Version: v1.34.4\nKustomize Version: v5.7.1", binaries.kubectl)).toBe(true);
    expect(versionFits("etcdctl version: 3.6.10\nAPI version: 3.6", binaries.etcdctl)).toBe(true);
    expect(versionFits("temporal version 1.9.1 (Server 1.31.0, UI 2.42.1)", binaries.temporal)).toBe(true);
    expect(versionFits("CoreDNS-1.13.1\nlinux/amd64, go1.26.8,", binaries.coredns)).toBe(true);
    expect(versionFits("v4.2.4+gabc", binaries.helm)).toBe(true);
    expect(versionFits("gardener-node-agent v1.150.0", binaries["gardener-node-agent"])).toBe(true);
  });

  it("does not fit when it is older, of another minor version, or says nothing", () => {
    expect(versionFits("Kubernetes v1.34.3", binaries.kubelet)).toBe(false);
    expect(versionFits("Kubernetes v1.35.0", binaries.kubelet)).toBe(false);
    expect(versionFits("temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)", binaries.temporal)).toBe(false);
    expect(versionFits("Error: unknown flag", binaries.etcd)).toBe(false);
    expect(versionFits("v0.62.1", binaries["machine-controller-manager"])).toBe(false);
  });
});

describe("a checksum file", () => {
  const sum = "a".repeat(64);

  it("names its file, or holds a lone checksum", () => {
    expect(findChecksum(`${"b".repeat(64)}  other.tgz\n${sum}  file.tgz\n`, "file.tgz")).toBe(sum);
    expect(findChecksum(`${sum} *file.tgz`, "file.tgz")).toBe(sum);
    expect(findChecksum(`${sum}\n`, "file")).toBe(sum);
  });

  it("gives nothing when it speaks of other files or is no checksum file", () => {
    expect(findChecksum(`${sum}  other.tgz`, "file.tgz")).toBeUndefined();
    expect(findChecksum("<html>not found</html>", "file.tgz")).toBeUndefined();
  });
});

it("go.mod pins every staging module of the upstream go.mod at the version that goes with it", () => {
  const upstream = "replace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n\tother.io/x => other.io/y v1\n)";
  expect(renderGoMod(binaries.kubelet.build, upstream)).toContain("\nreplace k8s.io/api => k8s.io/api v0.34.4\n");
  expect(renderGoMod(binaries.kubelet.build, upstream)).not.toContain("other.io");
  expect(renderGoMod(binaries.etcd.build)).toContain("require go.etcd.io/etcd/server/v3 v3.6.10");
});

it("go.mod asks for the Go that its modules accept, and for Gardener's APIs at Gardener's own version", () => {
  expect(renderGoMod(binaries.etcd.build)).toContain("\ngo 1.24.0\n");
  const { gardener } = versions;
  expect(renderGoMod(binaries["gardener-resource-manager"].build).split("\n").slice(2, -1)).toEqual([
    "go 1.26.5",
    "",
    `require github.com/gardener/gardener v${gardener}`,
    `require github.com/gardener/gardener/pkg/apis v${gardener}`,
  ]);
});

it("a program of parts calls its Main and has what the parts add", () => {
  const main = renderMain("example.org/tool/cmd", ["example.org/tool/part"]);
  expect(main).toContain('import (\n\tprogram "example.org/tool/cmd"\n\t_ "example.org/tool/part"\n)');
  expect(main).toContain("func main() { program.Main() }");
});

it("a build of other parts has a place of its own in the cache, and one of no parts that of its version", () => {
  const { build } = binaries.rclone;
  const lesser = { ...binaries.rclone, build: { ...build, parts: (build.parts ?? []).slice(1) } };
  expect(cachePath("rclone", lesser)).not.toBe(cachePath("rclone", binaries.rclone));
  expect(cachePath("rclone", binaries.rclone)).toMatch(/^bin\/rclone\/1\.74\.4-[0-9a-f]{8}\/rclone$/);
  expect(cachePath("etcd", binaries.etcd)).toBe("bin/etcd/3.6.10/etcd");
});

it("the resource manager that is deployed is the one whose definitions and binary are pinned", () => {
  expect(imagesFor("1.34.4").resourceManager).toMatch(new RegExp(`:v${versions.gardener}$`));
});

it("the rclone that tests use is the one that is deployed", () => {
  expect(imagesFor("1.34.4").rclone).toMatch(new RegExp(`:${versions.rclone}$`));
});

describe("a zip archive", () => {
  let folder: string;
  beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "perennial-zip-"))));
  afterAll(() => rm(folder, { recursive: true }));
  const write = async () => {
    const file = join(folder, "tool.zip");
    await writeFile(file, zip({ "tool/README": "read me", "tool/tool": "the binary" }));
    return file;
  };

  it("gives the member that is asked for, and is gone", async () => {
    await unpack(await write(), "tool/tool", join(folder, "tool"));
    expect(await readFile(join(folder, "tool"), "utf8")).toBe("the binary");
    await expect(readFile(join(folder, "tool.zip"))).rejects.toThrow("ENOENT");
  });

  it("says so when it has no such member, or is none", async () => {
    await expect(unpack(await write(), "tool/other", join(folder, "tool"))).rejects.toThrow("holds no tool/other");
    await writeFile(join(folder, "tool.zip"), "not found");
    await expect(unpack(join(folder, "tool.zip"), "tool", join(folder, "tool"))).rejects.toThrow("is no zip file");
  });
});

describe("a release download", () => {
  let server: Server;
  let folder: string;
  let archive: Buffer;
  let address: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "perennial-release-"));
    const tar = pack();
    tar.entry({ name: "tool/README" }, "read me");
    tar.entry({ name: "tool/tool" }, "the binary");
    tar.finalize();
    archive = gzipSync(await buffer(tar));
    const sums: Record<string, string> = {
      "/sums": `${createHash("sha256").update(archive).digest("hex")}  tool.tgz\n`,
      "/wrong": `${"0".repeat(64)}  tool.tgz\n`,
    };
    server = createServer((request, response) => {
      const body = request.url === "/tool.tgz" ? archive : sums[request.url ?? ""];
      response.writeHead(body === undefined ? 404 : 200).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const bound = server.address();
    address = `http://127.0.0.1:${typeof bound === "object" && bound !== null ? bound.port : 0}`;
  });

  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  const source = (checksums: string, base = address) => {
    const release = { url: `${base}/tool.tgz`, checksums: `${base}${checksums}`, member: "tool/tool" };
    const pin: BinaryPin = { ...binaries.etcd, release };
    return { name: "tool", pin, file: join(folder, "tool"), log, onProgress: () => {} };
  };

  it("unpacks the binary when the archive has the published checksum", async () => {
    expect(await downloadBinary(source("/sums"), new Map())).toBeUndefined();
    expect(await readFile(join(folder, "tool"), "utf8")).toBe("the binary");
  });

  it("refuses an archive with another checksum than the published one", async () => {
    expect(await downloadBinary(source("/wrong"), new Map())).toMatch(/has checksum .* where .* lists 0000/);
  });

  it("refuses an archive without a published checksum", async () => {
    expect(await downloadBinary(source("/none"), new Map())).toMatch(/answers 404 for the checksum/);
  });

  it("is none where there is an image only, and that is said", async () => {
    const pin = binaries["machine-controller-manager"];
    const imageOnly = { ...source("/sums"), name: "machine-controller-manager", pin };
    expect(await downloadBinary(imageOnly, new Map())).toBe("machine-controller-manager is published as an image only");
  });

  it("asks a host that cannot be reached once", async () => {
    const unreachable = new Map<string, string>();
    const closed = source("/sums", "http://127.0.0.1:1");
    expect(await downloadBinary(closed, unreachable)).toMatch(/cannot be reached/);
    unreachable.set("127.0.0.1:1", "asked before");
    expect(await downloadBinary(closed, unreachable)).toBe("asked before");
  });
});

/** A zip archive with deflated members; nobody looks at what is left zero. */
function zip(members: Readonly<Record<string, string>>): Buffer {
  const [files, table]: [Buffer[], Buffer[]] = [[], []];
  for (const [name, content] of Object.entries(members)) {
    const data = deflateRawSync(content);
    const [local, central] = [Buffer.alloc(30), Buffer.alloc(46)];
    local.writeUInt16LE(name.length, 26);
    central.writeUInt16LE(8, 10);
    central.writeUInt32LE(data.length, 20);
    central.writeUInt16LE(name.length, 28);
    central.writeUInt32LE(Buffer.concat(files).length, 42);
    files.push(local, Buffer.from(name), data);
    table.push(central, Buffer.from(name));
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt32LE(Buffer.concat(table).length, 12);
  end.writeUInt32LE(Buffer.concat(files).length, 16);
  return Buffer.concat([...files, ...table, end]);
}
