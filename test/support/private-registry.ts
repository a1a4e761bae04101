import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { issueAuthority, issueCertificate } from "../../src/activities/secrets/pki.ts";

/** A registry with an authority of its own. */
export interface PrivateRegistry {
  readonly port: number;
  /** The certificate of its authority, in PEM. */
  readonly authority: string;
  stop(): Promise<void>;
}

/** Serves, at any address of this host and known by `host`, the images of tars in OCI's layout: each by its path and tag, whatever registry its name has. */
export async function startPrivateRegistry(tars: readonly string[], host: string): Promise<PrivateRegistry> {
  const layout = await mkdtemp(join(tmpdir(), "private-registry-"));
  const images = new Map<string, Manifest>();
  for (const tar of tars) {
    await promisify(execFile)("tar", ["--extract", "--file", tar, "--directory", layout]);
    const { manifests } = JSON.parse(await readFile(join(layout, "index.json"), "utf8")) as { manifests: Manifest[] };
    for (const manifest of manifests) {
      const name = manifest.annotations["io.containerd.image.name"];
      for (const known of [name.slice(name.indexOf("/") + 1), manifest.digest]) images.set(known, manifest);
    }
  }
  const authority = await issueAuthority("private-registry", new Date());
  const request = { commonName: "registry", hosts: [host], usages: ["server" as const] };
  const { certificate: cert, key } = await issueCertificate(authority, request, new Date());
  const server = createServer({ cert, key }, (asked, answer) => {
    const [, path = "", kind, named = ""] = /^\/v2\/([^?]+)\/(manifests|blobs)\/([^?]+)/.exec(asked.url ?? "") ?? [];
    if (kind === undefined) return void answer.writeHead(200).end();
    const manifest = kind === "manifests" ? (images.get(`${path}:${named}`) ?? images.get(named)) : undefined;
    const found = manifest?.digest ?? named;
    const file = join(layout, "blobs", found.replace(":", "/"));
    stat(file).then(
      ({ size }) => {
        const type = manifest?.mediaType ?? "application/octet-stream";
        answer.writeHead(200, { "content-length": size, "content-type": type, "docker-content-digest": found });
        if (asked.method === "HEAD") answer.end();
        else createReadStream(file).pipe(answer);
      },
      () => answer.writeHead(404).end(),
    );
  });
  return { port: await listen(server), authority: authority.certificate, stop: async () => await stop(server, layout) };
}

interface Manifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly annotations: { readonly "io.containerd.image.name": string };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server, layout: string): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(layout, { recursive: true });
}
