import { mkdir } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { spawnChild } from "./child.ts";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-ports.ts";

/** An object store with the protocol of S3 and one pair of keys; its buckets are folders. */
export interface S3Server {
  readonly endpoint: string;
  /** The folder of a bucket, made if it is not there; what is changed in it is seen at once. */
  bucket(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** The keys that a server takes. */
export interface S3Keys {
  readonly accessKeyID: string;
  readonly secretAccessKey: string;
}

/** Starts one over TLS on loopback, with the certificate and key `tls.crt` and `tls.key` of the directory. */
export async function startS3(directory: string, name: string, keys: S3Keys): Promise<S3Server> {
  const [port] = await freePorts(1);
  const folder = join(directory, name);
  await mkdir(folder);
  const tls = [`--cert=${join(directory, "tls.crt")}`, `--key=${join(directory, "tls.key")}`];
  const auth = `--auth-key=${keys.accessKeyID},${keys.secretAccessKey}`;
  const args = ["serve", "s3", folder, "--config=", `--addr=127.0.0.1:${port}`, ...tls, auth, "--dir-cache-time=20ms"];
  const child = await spawnChild(directory, "rclone", args);
  const endpoint = `https://127.0.0.1:${port}`;
  await eventually(async () => {
    if (!child.alive()) throw new Error(`the object store ended:\n${child.output()}`);
    await answers(endpoint);
  }, 30_000);
  return {
    endpoint,
    async bucket(bucket) {
      await mkdir(join(folder, bucket), { recursive: true });
      return join(folder, bucket);
    },
    stop: () => child.kill(),
  };
}

const answers = (address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = request(address, { rejectUnauthorized: false, timeout: 5_000 }, (response) => {
      response.resume().once("end", resolve);
    });
    call.once("error", reject).end();
  });
