import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { parseKubeconfig } from "../../kube/kubeconfig.ts";

/** How a certificate is: good, good and to be renewed now, or of no use. */
export type CertificateState = "good" | "due" | "gone";

/** How the client certificate of a kubeconfig file is at this time, in ms since 1970; of 80 % of its life on, it is due. */
export async function certificateState(file: string, now: number): Promise<CertificateState> {
  const text = await readFile(file, "utf8").catch(() => "");
  try {
    const data = parseKubeconfig(text).user["client-certificate-data"];
    return stateAt(Buffer.from(String(data), "base64").toString(), now);
  } catch {
    return "gone";
  }
}

/** The same of a certificate in PEM; throws where it is none. */
export function stateAt(pem: string, now: number): CertificateState {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  if (now >= to) return "gone";
  return now >= from + 0.8 * (to - from) ? "due" : "good";
}
