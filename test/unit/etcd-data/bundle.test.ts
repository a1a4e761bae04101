import { mkdtemp, readFile, readlink, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lastingSecrets } from "../../../src/activities/secrets/plan.ts";
import { bundleOf, bundleSecret, isCurrentBundle, openBundle, sealBundle } from "../../../src/etcd-data/bundle.ts";
import { ensureBundleKeys } from "../../../src/etcd-data/bundle-keys.ts";
import type { Key } from "../../../src/key-file.ts";

const shoot = { namespace: "garden", name: "root", uid: "uid-1" };
const secret = (name: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "kube-system", resourceVersion: "5" },
  data: { "tls.key": Buffer.from(`private key of ${name}`).toString("base64") },
});
const configuration = [{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", metadata: { name: "root" } }];
const bundle = bundleOf({ shoot, secrets: [...lastingSecrets, "kube-scheduler"].map(secret), configuration });
let folder: string;
let keys: readonly Key[];
let others: readonly Key[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bundle-"));
  keys = await ensureBundleKeys(join(folder, "keys"));
  others = await ensureBundleKeys(join(folder, "others"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test("keys that a link leads to are taken, and a link that leads nowhere is refused, and stays", async () => {
  const link = join(folder, "link");
  await symlink(join(folder, "keys"), link);
  expect((await ensureBundleKeys(link)).map(({ id }) => id)).toEqual(keys.map(({ id }) => id));
  expect(await readlink(link)).toBe(join(folder, "keys"));
  await rm(link);
  await symlink("/nonexistent/keys", link);
  await expect(ensureBundleKeys(link)).rejects.toThrow(
    `cannot use the keys in ${link}: it is a link to a file that is not there; put that there, or remove the link, to have a new key made`,
  );
  expect(await readlink(link)).toBe("/nonexistent/keys");
});

test("a bundle has the lasting Secrets and the configuration, and comes back as it was", () => {
  const opened = openBundle(sealBundle(bundle, keys), keys, shoot);
  expect(opened).toEqual(bundle);
  expect(opened.secrets.map(({ metadata }) => metadata.name)).toEqual(lastingSecrets);
  expect(JSON.stringify(opened)).not.toContain("resourceVersion");
});

test("nothing of the keys can be read in a sealed bundle", () => {
  const bytes = sealBundle(bundle, keys).toString();
  for (const { data } of bundle.secrets.map((one) => one as { data?: Record<string, string> }))
    expect(bytes).not.toContain(data?.["tls.key"]);
});

test("a bundle is of no use without its key, and says which one that is", () => {
  const [key] = keys;
  expect(() => openBundle(sealBundle(bundle, keys), others)).toThrow(
    `cannot open the bundle of Shoot garden/root (uid uid-1): key ${key?.id} has sealed it; name the key file that has this key`,
  );
  const disguised = others.map(({ secret: another }) => ({ id: key?.id ?? "", secret: another }));
  expect(() => openBundle(sealBundle(bundle, keys), disguised)).toThrow(
    "it was changed, or another key bears the name",
  );
  expect(openBundle(sealBundle(bundle, keys), [...others, ...keys])).toEqual(bundle);
});

test("a bundle of another Shoot is refused, also one that says that it is this one's", () => {
  const bytes = sealBundle(bundle, keys);
  expect(() => openBundle(bytes, keys, { uid: "uid-2" })).toThrow(
    "cannot use the bundle of Shoot garden/root (uid uid-1): the Shoot to restore has uid uid-2",
  );
  const forged = Buffer.from(bytes.toString().replace("uid-1", "uid-2"));
  expect(() => openBundle(forged, keys, { uid: "uid-2" })).toThrow("it was changed");
});

test("a bundle that was cut off anywhere, or is none, is said to be that", () => {
  const bytes = sealBundle(bundle, keys);
  for (const length of [0, 1, 40, 200, bytes.length - 3])
    expect(() => openBundle(bytes.subarray(0, length), keys), `${length}`).toThrow("it is cut off, or no bundle");
  for (const text of ["null", "[]", "7", '{"format":"perennial-bundle/1"}'])
    expect(() => openBundle(Buffer.from(text), keys), text).toThrow("it is cut off, or no bundle");
  expect(() => openBundle(Buffer.from('{"format":"perennial-bundle/2"}'), keys)).toThrow(
    "its format is perennial-bundle/2",
  );
});

test("a bundle is written again only when it, or the key that is the newest, is another", () => {
  const bytes = sealBundle(bundle, keys);
  expect(isCurrentBundle(bytes, bundle, keys)).toBe(true);
  expect(isCurrentBundle(bytes, { ...bundle, configuration: [] }, keys)).toBe(false);
  expect(isCurrentBundle(bytes, bundle, [...others, ...keys])).toBe(false);
  expect(isCurrentBundle(Buffer.from("torn"), bundle, keys)).toBe(false);
});

test("a cluster without one of its keys has no bundle, and one that no Secret holds is refused", () => {
  expect(() => bundleOf({ shoot, secrets: [], configuration })).toThrow("Secret ca is missing");
  expect(bundleSecret(Buffer.from("x"))).toMatchObject({
    metadata: { name: "etcd-backup-bundle" },
    data: { bundle: "eA==" },
  });
  expect(() => bundleSecret(Buffer.alloc(1024 * 1024))).toThrow("a Secret has room for");
});

test("the key file is made once, for its owner alone", async () => {
  const file = join(folder, "keys");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const before = await readFile(file, "utf8");
  expect((await ensureBundleKeys(file)).map(({ id }) => id)).toEqual(keys.map(({ id }) => id));
  expect(await readFile(file, "utf8")).toBe(before);
});
