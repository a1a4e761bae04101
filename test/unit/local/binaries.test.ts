import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderGoMod } from "../../../src/local/binary-build.ts";
import { versionFits } from "../../../src/local/binary-path.ts";
import { downloadBinary, findChecksum } from "../../../src/local/binary-release.ts";
import { binaries, type BinaryPin } from "../../../src/local/versions.ts";
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
  });

  it("does not fit when it is older, of another minor version, or says nothing", () => {
    expect(versionFits("Kubernetes v1.34.3", binaries.kubelet)).toBe(false);
    expect(versionFits("Kubernetes v1.35.0", binaries.kubelet)).toBe(false);
    expect(versionFits("temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)", binaries.temporal)).toBe(false);
    expect(versionFits("Error: unknown flag", binaries.etcd)).toBe(false);
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

  it("asks a host that cannot be reached once", async () => {
    const unreachable = new Map<string, string>();
    const closed = source("/sums", "http://127.0.0.1:1");
    expect(await downloadBinary(closed, unreachable)).toMatch(/cannot be reached/);
    unreachable.set("127.0.0.1:1", "asked before");
    expect(await downloadBinary(closed, unreachable)).toBe("asked before");
  });
});
