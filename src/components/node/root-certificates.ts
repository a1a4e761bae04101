import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { pathsOf, secretFile, textFile, type File, type Part } from "./file.ts";

const directory = "/var/lib/ca-certificates-local";
const script = "/var/lib/ssl/update-local-ca-certificates.sh";

/** The file of certificates of which a change restarts what has read them; others watch it by this name. */
export const ROOT_CERTIFICATES = `${directory}/ROOTcerts.crt`;

/** Authorities that a machine trusts: the cluster's, and those of its cloud profile and its pool. */
export function rootCertificates({ cloudProfile }: ControlPlaneContext, pool: WorkerPool): Part {
  const files = [
    textFile(script, updateScript, 0o744),
    ...places("ROOTcerts").map((path) => secretFile(path, "ca", "ca.crt", 0o644)),
    ...bundle("cloud-profile", cloudProfile.spec.caBundle),
    ...bundle("pool", pool.caBundle),
  ];
  return {
    files,
    units: [{ name: "updatecacerts.service", command: "start", content: unit, filePaths: pathsOf(files) }],
  };
}

/** Debian and its kin read the first, SUSE and Red Hat the second. */
const places = (name: string): string[] => [`${directory}/${name}.crt`, `/etc/pki/trust/anchors/${name}.pem`];

const bundle = (name: string, certificates: string | undefined): File[] =>
  certificates === undefined ? [] : places(name).map((path) => textFile(path, certificates, 0o644));

const unit = `[Unit]
Description=Puts the cluster's authorities among those that the machine trusts
DefaultDependencies=no
Wants=systemd-tmpfiles-setup.service clean-ca-certificates.service
After=systemd-tmpfiles-setup.service clean-ca-certificates.service
Before=sysinit.target kubelet.service
ConditionPathIsReadWrite=/etc/ssl/certs
ConditionPathIsReadWrite=${directory}

[Service]
Type=oneshot
ExecStart=${script}

[Install]
WantedBy=multi-user.target
`;

/** /usr may be read-only, so that Debian's own folder for local authorities is not an option there. */
const updateScript = `#!/usr/bin/env bash
# Makes this machine trust the authorities in ${directory}.
set -euo pipefail
local_certificates=${directory}

if [ -e /etc/debian_version ]; then
  mkdir -p "$local_certificates"
  cp --archive --force /usr/local/share/ca-certificates/. "$local_certificates" 2> /dev/null || true
  update-ca-certificates --fresh --localcertsdir "$local_certificates"
elif grep --quiet flatcar /etc/os-release; then
  for file in "$local_certificates"/*.crt; do
    cp --force "$file" "/etc/ssl/certs/$(basename "$file" .crt).pem"
  done
  update-ca-certificates
else
  update-ca-certificates --fresh
fi
`;
