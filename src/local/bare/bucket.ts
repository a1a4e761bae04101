import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../../log.ts";
import { ensureBinaries } from "../binary/binaries.ts";
import { ensurePackages } from "../binary/packages.ts";
import type { Environment } from "../environment/environment.ts";
import { requireMachineHost } from "../machine/host.ts";
import { ensureBridge } from "../network/bridge.ts";
import { accepts, createPorts } from "../process/ports.ts";
import { createProcesses } from "../process/processes.ts";
import { replaceFile } from "../replace-file.ts";
import { withSet } from "./set.ts";

/** An S3 bucket beside bare machines, by the keys of a Secret for a store of provider `s3`. */
export interface Bucket {
  readonly bucketName: string;
  readonly endpoint: string;
  readonly accessKeyID: string;
  readonly secretAccessKey: string;
  readonly region: string;
  readonly s3ForcePathStyle: string;
}

/**
 * The bucket of the set of this name, at the host's address in the set's network; it begins where it does not run, and has what
 * it had. It outlives this process, and goes with the set. Needs root.
 */
export async function ensureBucket(
  setName: string,
  log: Logger,
  tell: (message: string) => void = () => {},
): Promise<Bucket> {
  requireMachineHost();
  await ensurePackages({ names: ["iproute2", "iptables"], onProgress: tell });
  const { rclone } = await ensureBinaries(["rclone"], { log, onProgress: tell });
  return await withSet(setName, async (set) => {
    await ensureBridge(set);
    return await serve(set, rclone, log);
  });
}

/** Ends the set's bucket, if there is one; what is in it stays until the set goes. */
export async function stopBucket(set: Pick<Environment, "stateDir">, log: Logger): Promise<void> {
  await createProcesses(set, log).stop(NAME);
}

const NAME = "bucket";

async function serve(set: Environment, rclone: string, log: Logger): Promise<Bucket> {
  const { gateway: host, stateDir } = set;
  const folder = join(stateDir, NAME);
  await mkdir(join(folder, "buckets", BUCKET), { recursive: true, mode: 0o700 });
  const keys = await ensureKeys(join(folder, "keys.json"));
  const processes = createProcesses(set, log);
  const running = (await processes.list()).some(({ name, running: isRunning }) => name === NAME && isRunning);
  const port = await createPorts(set).claim({ owner: NAME, host, running });
  await processes.start({
    name: NAME,
    command: rclone,
    // Folders that are kept for 0 s, rclone forgets without a pause, which takes half a processor.
    args: ["serve", "s3", join(folder, "buckets"), "--config=", `--addr=${host}:${port}`, "--dir-cache-time=20ms"],
    // Not on the command line, which all users of the host see. rclone reads a list there, as CSV.
    env: { RCLONE_AUTH_KEY: `"${keys.accessKeyID},${keys.secretAccessKey}"` },
    ready: async () => await accepts(host, port),
  });
  return { bucketName: BUCKET, endpoint: `http://${host}:${port}`, ...keys, region: "local", s3ForcePathStyle: "true" };
}

const BUCKET = "backups";

type Keys = Pick<Bucket, "accessKeyID" | "secretAccessKey">;

async function ensureKeys(file: string): Promise<Keys> {
  const found = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  });
  if (found !== undefined) return JSON.parse(found) as Keys;
  const keys = { accessKeyID: randomBytes(8).toString("hex"), secretAccessKey: randomBytes(20).toString("hex") };
  await replaceFile(file, `${JSON.stringify(keys)}\n`);
  return keys;
}
