import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ADMIN_KUBECONFIG, EXPOSED_KUBECONFIG } from "../../api/names.ts";
import { parseYaml } from "../../parsing.ts";
import { agentPlacesIn } from "./agent-places.ts";

/** A certificate on the machine; `file` is its path there. */
export interface FoundCertificate {
  readonly file: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** It is an authority's, which nothing makes anew: what it has signed ends with it. */
  readonly isAuthority?: true;
}

/** Where those of a control plane are: files of static pods, and kubeconfigs. */
const FOLDER = "/var/lib/static-pods";
const KUBECONFIGS = [ADMIN_KUBECONFIG, EXPOSED_KUBECONFIG, "/var/lib/kubelet/kubeconfig-real"];
/** The certificate of the kubelet. */
export const KUBELET = "/var/lib/kubelet/pki/kubelet-client-current.pem";
/** The kubeconfig of the node's agent. */
export const AGENT = agentPlacesIn("/").kubeconfig;

/** Whether the certificate is one that its program renews by itself: it is good for 30 days only. */
export const renewsItself = (file: string): boolean => file === KUBELET || file === AGENT;

/** The certificates that are in use on the machine whose `/` is this folder, the first to expire first. What is not there is left out. */
export async function findCertificates(root: string): Promise<FoundCertificate[]> {
  const all = await readCertificates(root);
  return all
    .map(({ file, certificate }) => ({
      file,
      expiresAt: certificate.validToDate.toISOString(),
      ...(certificate.ca && { isAuthority: true as const }),
    }))
    .toSorted((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1));
}

/** The files with a certificate of which 80 % of the life are over at this time, in ms since 1970. Kubelets and agents renew their own, and authorities are not renewed. */
export async function dueCertificates(root: string, now: number): Promise<string[]> {
  const all = await readCertificates(root);
  const isDue = ({ validFromDate, validToDate }: X509Certificate) =>
    now >= validFromDate.getTime() + 0.8 * (validToDate.getTime() - validFromDate.getTime());
  return all
    .filter(({ file, certificate }) => !certificate.ca && !renewsItself(file) && isDue(certificate))
    .map(({ file }) => file);
}

interface ReadCertificate {
  readonly file: string;
  readonly certificate: X509Certificate;
}

async function readCertificates(root: string): Promise<ReadCertificate[]> {
  const files = await readdir(join(root, FOLDER), { recursive: true }).catch(() => []);
  const ofPods = files.filter((file) => file.endsWith(".crt")).map((file) => join(FOLDER, file));
  const plain = await Promise.all([...ofPods, KUBELET].map(async (file) => found(file, await textOf(root, file))));
  const inside = await Promise.all(
    [...KUBECONFIGS, AGENT].map(async (file) => found(file, clientCertificate(await textOf(root, file)))),
  );
  return [...plain, ...inside].flat();
}

const textOf = async (root: string, file: string): Promise<string> =>
  readFile(join(root, file), "utf8").catch(() => "");

function found(file: string, pem: string): ReadCertificate[] {
  if (!pem.includes("BEGIN CERTIFICATE")) return [];
  try {
    return [{ file, certificate: new X509Certificate(pem) }];
  } catch {
    return [];
  }
}

interface Users {
  readonly users?: readonly { readonly user?: { readonly "client-certificate-data"?: string } }[];
}

function clientCertificate(kubeconfig: string): string {
  try {
    const { users = [] } = (parseYaml(kubeconfig, "a kubeconfig") ?? {}) as Users;
    return Buffer.from(users[0]?.user?.["client-certificate-data"] ?? "", "base64").toString();
  } catch {
    return "";
  }
}
