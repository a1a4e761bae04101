import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { clusterObject } from "../../../src/components/index.ts";
import { readBackupAccess } from "../../../src/gardenadm/machine/backup-access.ts";
import { followBackupAccess } from "../../../src/gardenadm/node-agent/backup-access-watch.ts";
import { refTo, Secret, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { test } from "../../support/cluster-test.ts";
import { eventually } from "../../support/eventually.ts";
import { backedUpOnNodes } from "../../support/self-hosted-control-plane.ts";

/** The agent of a node that has only joined, and a cluster with backups. */
const context = backedUpOnNodes({ provider: "s3", region: "eu", credentialsRef: { kind: "Secret", name: "store" } });
const log = createLogger({ name: "test", level: "silent" });
const place = { namespace: "kube-system", name: "etcd-backup" };
let root: string;

beforeEach(async () => void (root = await mkdtemp(join(tmpdir(), "backup-access-"))));
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(root, { recursive: true, force: true });
});

test("a node that has only joined knows how the backups are reached, also once their credentials are others", async ({
  cluster: { client },
}) => {
  await client.apply(clusterObject(context));
  await publish(client, "first");
  await following(client, async () => await eventually(async () => expect(await knownKey()).toBe("first")));
  await publish(client, "second");
  await following(client, async () => await eventually(async () => expect(await knownKey()).toBe("second")));
  expect(await readBackupAccess(root)).toMatchObject({ provider: "s3", uid: context.shoot.metadata.uid });
});

test("what a machine knows of the backups stays where the cluster has no way to them now", async ({
  cluster: { client },
}) => {
  await publish(client, "first");
  await following(client, async () => await eventually(async () => expect(await knownKey()).toBe("first")));
  await client.remove(refTo(Secret, place));
  const read = vi.spyOn(client, "read");
  await following(client, async () => await eventually(() => expect(read.mock.settledResults).toHaveLength(2)));
  expect(await knownKey()).toBe("first");
});

test("a machine forgets the backups of a cluster that asks for none any more", async ({ cluster: { client } }) => {
  await publish(client, "first");
  await following(client, async () => await eventually(async () => expect(await knownKey()).toBe("first")));
  await client.apply(clusterObject(backedUpOnNodes()));
  await following(
    client,
    async () => await eventually(async () => expect(await readBackupAccess(root)).toBeUndefined()),
  );
});

async function publish(client: KubeClient, key: string): Promise<void> {
  const data = { accessKeyID: Buffer.from(key).toString("base64") };
  await client.apply<Secret>({ ...typeMeta(Secret), metadata: place, data });
}

const knownKey = async () => (await readBackupAccess(root))?.secret["accessKeyID"];

async function following(client: KubeClient, work: () => Promise<void>): Promise<void> {
  const ending = new AbortController();
  const agent = followBackupAccess({ client, root, log }, ending.signal);
  try {
    await work();
  } finally {
    ending.abort();
    await agent;
  }
}
