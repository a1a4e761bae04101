import { forbiddenPlugins, requiredPlugins } from "../../api/shoot/admission-plugins.ts";
import { commandLine, featureGates, literal, type Flags } from "../command-line.ts";
import type { ControlPlaneContext } from "../context.ts";
import { etcdClientUrl } from "../etcd/addresses.ts";
import { secretPath } from "../files.ts";
import { egressFlags } from "../tunnel/server.ts";
import { AUDIT } from "./audit.ts";
import { ENCRYPTION_CONFIGURATION } from "./encryption-configuration.ts";
import { apiServerIP, internalApiServerName, networksOf } from "../networks.ts";

/** The address of the node that an API server runs on, as its kubelet says it. */
export const NODE_ADDRESS = { name: "NODE_ADDRESS", valueFrom: { fieldRef: { fieldPath: "status.hostIP" } } };

/** The API server's command line. Nothing in it depends on the provider: that is for its webhooks to add. */
export function kubeApiServerCommand(context: ControlPlaneContext): string[] {
  const command = commandLine("kube-apiserver", {
    ...network(context),
    ...identities(context),
    ...storage(context),
    ...otherServers,
    ...egressFlags(context),
    ...auditing,
    ...whatTheUserAsksFor(context),
    "allow-privileged": true,
    "authorization-mode": "Node,RBAC",
    "enable-aggregator-routing": true,
    "livez-grace-period": "1m",
    profiling: false,
    "shutdown-delay-duration": "5s",
    "shutdown-send-retry-after": true,
  });
  return [...command, ...earlierIssuer(context)];
}

/**
 * With an address of its own, Service `kubernetes` gets its endpoint from us: a rolling update takes none away. On nodes, each
 * API server has that of its node and keeps its endpoint itself.
 */
function network(context: ControlPlaneContext): Flags {
  const address = context.nodes === undefined ? apiServerIP(context) : undefined;
  const own = context.nodes && `$(${NODE_ADDRESS.name})`;
  return {
    "secure-port": 443,
    "tls-cert-file": secretPath("kube-apiserver", "tls.crt"),
    "tls-private-key-file": secretPath("kube-apiserver", "tls.key"),
    "advertise-address": address ?? own,
    "endpoint-reconciler-type": address && "none",
    "service-cluster-ip-range": networksOf(context).services,
  };
}

/**
 * Who issues the tokens of ServiceAccounts where the user names no other: an address at which pods can ask for the keys. The nodes of a
 * self-hosted Shoot have a name in DNS only while something exposes them; its Service has one always.
 */
function ownIssuer(context: ControlPlaneContext): string {
  const name = internalApiServerName(context);
  return context.nodes !== undefined || name === undefined ? IN_CLUSTER : `https://${name}`;
}

const IN_CLUSTER = "https://kubernetes.default.svc";

/** Self-hosted Shoots of earlier versions have tokens of that name: they are good until they expire. */
function earlierIssuer(context: ControlPlaneContext): string[] {
  const name = internalApiServerName(context);
  const isOwn = !context.shoot.spec.kubernetes.kubeAPIServer?.serviceAccountConfig?.issuer;
  if (context.nodes === undefined || name === undefined || !isOwn) return [];
  return [`--service-account-issuer=https://${name}`];
}

function identities(context: ControlPlaneContext): Flags {
  const config = context.shoot.spec.kubernetes.kubeAPIServer?.serviceAccountConfig;
  const own = ownIssuer(context);
  const issuer = config?.issuer || own; // a Shoot that was accepted earlier may have an empty one
  const key = secretPath("service-account-key", "id_rsa");
  return {
    "authentication-config": "/etc/kubernetes/authentication/config.yaml",
    "client-ca-file": secretPath("ca-client", "ca.crt"),
    "enable-bootstrap-token-auth": true,
    "service-account-issuer": literal(issuer),
    "service-account-jwks-uri": issuer === own ? `${own}/openid/v1/jwks` : undefined,
    "service-account-key-file": key,
    "service-account-signing-key-file": key,
    "service-account-max-token-expiration": config?.maxTokenExpiration,
    "service-account-extend-token-expiration": config?.extendTokenExpiration,
    "api-audiences": audiences(context.shoot.spec.kubernetes.kubeAPIServer?.apiAudiences).map(literal),
  };
}

/** The resource manager asks for tokens with the audience `gardener`, whatever the user asks for. */
const audiences = (asked: readonly string[] = ["kubernetes"]): string[] => [...new Set([...asked, "gardener"])];

const storage = (context: ControlPlaneContext): Flags => ({
  "encryption-provider-config": secretPath(ENCRYPTION_CONFIGURATION.secret, ENCRYPTION_CONFIGURATION.key),
  "etcd-servers": etcdClientUrl("main", context),
  "etcd-servers-overrides": `/events#${etcdClientUrl("events", context)}`,
  "etcd-cafile": secretPath("ca-etcd", "ca.crt"),
  "etcd-certfile": secretPath("kube-apiserver-etcd-client", "tls.crt"),
  "etcd-keyfile": secretPath("kube-apiserver-etcd-client", "tls.key"),
});

const otherServers: Flags = {
  "kubelet-certificate-authority": secretPath("ca-kubelet", "ca.crt"),
  "kubelet-client-certificate": secretPath("kube-apiserver-kubelet", "tls.crt"),
  "kubelet-client-key": secretPath("kube-apiserver-kubelet", "tls.key"),
  "kubelet-preferred-address-types": ["InternalIP", "Hostname", "ExternalIP"],
  "proxy-client-cert-file": secretPath("kube-aggregator", "tls.crt"),
  "proxy-client-key-file": secretPath("kube-aggregator", "tls.key"),
  "requestheader-client-ca-file": secretPath("ca-front-proxy", "ca.crt"),
  "requestheader-allowed-names": "kube-aggregator",
  "requestheader-extra-headers-prefix": "X-Remote-Extra-",
  "requestheader-group-headers": "X-Remote-Group",
  "requestheader-username-headers": "X-Remote-User",
};

/** The place of the audit log. The policy of the ConfigMap writes nothing there until a Shoot may bring its own. */
const auditing: Flags = {
  "audit-policy-file": `${AUDIT.policy.mountPath}/audit-policy.yaml`,
  "audit-log-path": `${AUDIT.log.mountPath}/audit.log`,
  "audit-log-maxsize": 100,
  "audit-log-maxbackup": 5,
};

function whatTheUserAsksFor({ shoot }: ControlPlaneContext): Flags {
  const config = shoot.spec.kubernetes.kubeAPIServer ?? {};
  return {
    ...admissionPlugins(config.admissionPlugins ?? []),
    "feature-gates": featureGates(config.featureGates),
    "runtime-config": featureGates(config.runtimeConfig),
    "event-ttl": config.eventTTL ?? "1h",
    "max-requests-inflight": config.requests?.maxNonMutatingInflight,
    "max-mutating-requests-inflight": config.requests?.maxMutatingInflight,
    "default-not-ready-toleration-seconds": config.defaultNotReadyTolerationSeconds,
    "default-unreachable-toleration-seconds": config.defaultUnreachableTolerationSeconds,
    "tls-min-version": config.tlsMinVersion,
  };
}

/** Required plugins run, and those that are forbidden do not, whatever a Shoot that was admitted earlier asks for. */
function admissionPlugins(
  plugins: readonly { readonly name: string; readonly disabled?: boolean | undefined }[],
): Flags {
  const names = (disabled: boolean, ignored: readonly string[]) =>
    plugins
      .filter((each) => (each.disabled ?? false) === disabled && !ignored.includes(each.name))
      .map(({ name }) => name);
  return {
    "enable-admission-plugins": ["NodeRestriction", ...names(false, ["NodeRestriction", ...forbiddenPlugins])],
    "disable-admission-plugins": names(true, requiredPlugins),
  };
}
