import type { Flags } from "../command-line.ts";
import type { ControlPlaneContext } from "../context.ts";
import { mountFiles, secretPath } from "../files.ts";
import { etcdClientUrl, type EtcdRole } from "./addresses.ts";

/** The files by which pods ask etcds as the API server does. */
export const clientFiles = (context: ControlPlaneContext) =>
  mountFiles(context, { "ca-etcd": ["ca.crt"], "kube-apiserver-etcd-client": "all" });

/** The flags by which etcdctl asks an etcd with these files. */
export const clientFlags = (role: EtcdRole, context: ControlPlaneContext): Flags => ({
  endpoints: etcdClientUrl(role, context),
  cacert: secretPath("ca-etcd", "ca.crt"),
  cert: secretPath("kube-apiserver-etcd-client", "tls.crt"),
  key: secretPath("kube-apiserver-etcd-client", "tls.key"),
});
