import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Candidate } from "../../src/gardenadm/preflight/candidate.ts";

/** A folder that is the `/` of a machine with systemd and containerd, and a machine there that has nothing against it. */
export interface BareRoot {
  readonly root: string;
  readonly candidate: Candidate;
  /** Puts files there, with their folders. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
  remove(): Promise<void>;
}

/** Makes one in a temporary folder. */
export async function bareRoot(): Promise<BareRoot> {
  const root = await mkdtemp(join(tmpdir(), "perennial-preflight-"));
  const write = async (files: Readonly<Record<string, string>>) => {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text);
    }
  };
  for (const folder of ["/run/systemd/system", "/var/lib"]) await mkdir(join(root, folder), { recursive: true });
  await write({ "/run/containerd/containerd.sock": "", "/etc/containerd/config.toml": "SystemdCgroup = true\n" });
  const candidate = {
    ...{ root, hostName: "a", isBegun: false, userId: 0, interfaces: {} },
    ...{ memory: 4 * 1024 ** 3, diskSpace: 20 * 1024 ** 3, now: new Date("2026-11-25T00:00:00Z") },
    systemctl: async () => await Promise.resolve(""),
    ctr: async () => await Promise.resolve(versionOf("1.7.24")),
  };
  return { root, candidate, write, remove: async () => await rm(root, { recursive: true, force: true }) };
}

/** What `ctr version` says of a containerd. */
export const versionOf = (server: string): string =>
  `Client:\n  Version:  1.7.24\n  Revision: a\n  Go version: go1.22\n\nServer:\n  Version:  ${server}\n  Revision: a\n  UUID: b\n`;
