import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { Agent, request, type Dispatcher } from "undici";

/** What an OCI manifest says of a blob, and an index of a manifest. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** In bytes. */
  readonly size: number;
}

/** Writes to a registry by the OCI distribution protocol. What is there already, by digest, is not sent again. */
export interface PushClient {
  /** `content` is asked for only where the registry does not have the blob; resolves to whether it was sent. */
  putBlob(repository: string, blob: Omit<Descriptor, "mediaType">, content: () => Readable | Buffer): Promise<boolean>;
  /** Puts a manifest under a tag, or under its digest where none is given; the digest by which it is pulled. */
  putManifest(repository: string, manifest: Manifest): Promise<string>;
  close(): Promise<void>;
}

/** A manifest, byte for byte, as its digest is of its bytes. */
export interface Manifest {
  readonly mediaType: string;
  readonly bytes: Buffer;
  readonly tag?: string;
}

/** Speaks to the registry at `url`; throws what it answers to what it does not do. */
export function createPushClient(url: string, tls: { ca: string; cert?: string; key?: string }): PushClient {
  const dispatcher = new Agent({ connect: tls });
  const send = async (method: Dispatcher.HttpMethod, address: string, more: Sending = {}) => {
    const answer = await request(address, { method, dispatcher, ...more });
    const text = await answer.body.text();
    return { status: answer.statusCode, location: answer.headers["location"], text };
  };
  const expectStatus = (what: string, wanted: number, answer: { readonly status: number; readonly text: string }) => {
    if (answer.status !== wanted)
      throw new Error(`cannot push ${what}: the registry answers ${answer.status} ${answer.text.slice(0, 500)}`);
  };

  return {
    async putBlob(repository, { digest, size }, content) {
      if ((await send("HEAD", `${url}/v2/${repository}/blobs/${digest}`)).status === 200) return false;
      const opened = await send("POST", `${url}/v2/${repository}/blobs/uploads/`);
      expectStatus(`a blob to ${repository}`, 202, opened);
      const place = new URL(String(opened.location), url);
      place.searchParams.set("digest", digest);
      const headers = { "content-type": "application/octet-stream", "content-length": String(size) };
      expectStatus(`blob ${digest} to ${repository}`, 201, await send("PUT", place.href, { headers, body: content() }));
      return true;
    },
    async putManifest(repository, { mediaType, bytes, tag }) {
      const digest = digestOf(bytes);
      const headers = { "content-type": mediaType };
      const answer = await send("PUT", `${url}/v2/${repository}/manifests/${tag ?? digest}`, { headers, body: bytes });
      expectStatus(`manifest ${tag ?? digest} to ${repository}`, 201, answer);
      return digest;
    },
    close: async () => await dispatcher.close(),
  };
}

/** The digest by which a registry knows these bytes. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | Buffer;
}
