import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../api/index.ts";
import { SYSTEM_NAMESPACE } from "../api/names.ts";
import { lastingSecrets } from "../activities/secrets/plan.ts";
import { createSeal } from "../activities/state/seal.ts";
import { BACKUP_BUNDLE } from "../components/index.ts";
import type { Key } from "../key-file.ts";
import { parseJson } from "../parsing.ts";

/** Which Shoot a bundle is of; this alone can be read without a key. */
export interface BundledShoot {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What a cluster needs beside a snapshot of its etcd to be itself again. */
export interface Bundle {
  readonly shoot: BundledShoot;
  /** The Secrets that are made once: authorities, and the keys of service accounts and of encryption. */
  readonly secrets: readonly KubeObject[];
  /** The objects of the configuration folder. */
  readonly configuration: readonly KubeObject[];
}

/** Why a bundle cannot be opened: in one sentence, with a remedy. */
export class BundleError extends Error {
  override readonly name = "BundleError";
}

/** The bundle of a cluster with these Secrets, others among them. Throws which of the lasting ones is not there. */
export function bundleOf({ secrets, ...others }: Bundle): Bundle {
  const found = lastingSecrets.map((name) => {
    const secret = secrets.find(({ metadata }) => metadata.name === name);
    if (secret === undefined) throw new BundleError(`cannot bundle the keys of the cluster: Secret ${name} is missing`);
    const { apiVersion, kind, metadata, type, data } = secret;
    const { namespace, labels, annotations } = metadata;
    return {
      ...{ apiVersion, kind, metadata: { name, namespace, labels, annotations } },
      ...(type !== undefined && { type }),
      data,
    };
  });
  return plain({ ...others, secrets: found });
}

/** Seals a bundle with the first of these keys: what a key file holds whose newest key comes first. */
export function sealBundle(bundle: Bundle, keys: readonly Key[]): Buffer {
  const [current] = keys;
  if (current === undefined) throw new BundleError("cannot seal the bundle of the cluster: there is no key");
  const { shoot, ...content } = bundle;
  const sealed = createSeal(new Map(), current).seal(content, placeOf(shoot));
  return Buffer.from(`${JSON.stringify({ format: FORMAT, shoot, ...sealed })}\n`);
}

/** Opens a bundle; with `of`, only that of the Shoot with this uid. Throws a BundleError. */
export function openBundle(bytes: Uint8Array, keys: readonly Key[], of?: Pick<BundledShoot, "uid">): Bundle {
  const { shoot, key, ...sealed } = readEnvelope(bytes);
  const called = calledOf(shoot);
  if (of !== undefined && of.uid !== shoot.uid)
    throw new BundleError(
      `cannot use the bundle of ${called}: the Shoot to restore has uid ${of.uid}; take a backup of its own`,
    );
  if (!keys.some(({ id }) => id === key))
    throw new BundleError(
      `cannot open the bundle of ${called}: key ${key} has sealed it; name the key file that has this key`,
    );
  try {
    const opener = createSeal(new Map(keys.map((one) => [one.id, one])));
    return { shoot, ...(opener.open({ ...sealed, key }, placeOf(shoot)) as Omit<Bundle, "shoot">) };
  } catch (error) {
    throw new BundleError(
      `cannot open the bundle of ${called}: it was changed, or another key bears the name ${key}; take an earlier backup, or the cluster's own key file`,
      { cause: error },
    );
  }
}

/** Whose bundle it is, which is seen without a key. Throws a BundleError where the bytes are none. */
export function bundledShootOf(bytes: Uint8Array): BundledShoot {
  return readEnvelope(bytes).shoot;
}

/** Whether these bytes hold this very bundle, sealed by the newest of these keys: then they need not be written again. */
export function isCurrentBundle(bytes: Uint8Array, bundle: Bundle, keys: readonly Key[]): boolean {
  try {
    return readEnvelope(bytes).key === keys[0]?.id && isDeepStrictEqual(openBundle(bytes, keys), plain(bundle));
  } catch (error) {
    if (error instanceof BundleError) return false;
    throw error;
  }
}

/** The Secret from which snapshots' pods take the bundle. Throws where it is larger than a Secret may be. */
export function bundleSecret(bytes: Buffer): KubeObject {
  if (bytes.length > MOST_BYTES)
    throw new BundleError(
      `cannot keep the bundle of the cluster: it has ${bytes.length} bytes, and a Secret has room for ${MOST_BYTES}; refer to charts in the configuration instead of writing them there`,
    );
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: BACKUP_BUNDLE.name, namespace: SYSTEM_NAMESPACE },
    data: { [BACKUP_BUNDLE.key]: bytes.toString("base64") },
  };
}

const MOST_BYTES = 1024 * 1024 - 4096;

/** Another format gets another number. */
const FORMAT = "perennial-bundle/1";

const placeOf = ({ namespace, name, uid }: BundledShoot): string => `${FORMAT} ${namespace}/${name} ${uid}`;
const calledOf = ({ namespace, name, uid }: BundledShoot): string => `Shoot ${namespace}/${name} (uid ${uid})`;

interface Envelope {
  readonly format: string;
  readonly shoot: BundledShoot;
  readonly sealed: string;
  readonly key: string;
  readonly data: string;
}

function readEnvelope(bytes: Uint8Array): Envelope {
  const envelope = parse(Buffer.from(bytes).toString()) as Partial<Record<keyof Envelope, unknown>> | null | undefined;
  const { format, shoot, sealed, key, data } = envelope ?? {};
  if (typeof format === "string" && format !== FORMAT)
    throw new BundleError(
      `cannot open the bundle: its format is ${format}, and this gardenadm knows ${FORMAT}; take a later one`,
    );
  const { namespace, name, uid } = (shoot ?? {}) as Partial<Record<keyof BundledShoot, unknown>>;
  if (![format, sealed, key, data, namespace, name, uid].every((text) => typeof text === "string"))
    throw new BundleError(
      "cannot open the bundle: it is cut off, or no bundle; fetch it again, or take an earlier backup",
    );
  return envelope as Envelope;
}

function parse(text: string): unknown {
  try {
    return parseJson(text, "the bundle");
  } catch {
    return undefined;
  }
}

/** As it is after a way through JSON. */
const plain = (bundle: Bundle): Bundle => JSON.parse(JSON.stringify(bundle)) as Bundle;
