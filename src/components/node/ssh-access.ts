import { SSH_KEY_PAIR } from "../../api/names.ts";
import type { ControlPlaneContext } from "../context.ts";
import { pathsOf, secretFile, textFile, type Part } from "./file.ts";

/** Whether people may log in on the Shoot's machines: its owner has not forbidden it, and there is a key. */
export function allowsLogin(context: ControlPlaneContext): boolean {
  return !forbidsLogin(context) && context.checksums[SSH_KEY_PAIR] !== undefined;
}

const forbidsLogin = ({ shoot }: ControlPlaneContext): boolean =>
  shoot.spec.provider.workersSettings?.sshAccess?.enabled === false;

/**
 * The SSH server: kept running where people may log in, kept down where the Shoot's owner forbids it, whatever the machine's
 * image does; its own business where there is no key.
 */
export function sshServer(context: ControlPlaneContext): Part {
  if (!allowsLogin(context) && !forbidsLogin(context)) return {};
  const path = "/var/lib/sshd-ensurer/run.sh";
  const content = `[Unit]
Description=Keeps the SSH server as the cluster says
DefaultDependencies=no

[Service]
Restart=always
RestartSec=5
ExecStart=${path}

[Install]
WantedBy=multi-user.target
`;
  return {
    files: [textFile(path, forbidsLogin(context) ? keepDown : keepRunning, 0o755)],
    units: [{ name: "sshd-ensurer.service", command: "start", content, filePaths: [path] }],
  };
}

/** The user `gardener`, who logs in with the Shoot's key and may become root; nothing where people may not log in. */
export function loginUser(context: ControlPlaneContext): Part {
  if (!allowsLogin(context)) return {};
  const files = [
    secretFile(authorizedKeys, SSH_KEY_PAIR, "id_rsa.pub", 0o644),
    textFile("/var/lib/gardener-user/run.sh", makeUser, 0o755),
  ];
  return {
    files,
    units: [
      { name: "gardener-user.service", enable: true, content: userUnit(context), filePaths: pathsOf(files) },
      { name: "gardener-user.path", enable: true, content: pathUnit },
    ],
  };
}

const authorizedKeys = "/var/lib/gardener-user-authorized-keys";

/** Garden Linux names the unit ssh.service until it is enabled. */
const keepRunning = `#!/usr/bin/env bash
set -eu
while true; do
  if ! systemctl is-enabled --quiet sshd.service; then
    systemctl unmask sshd.service
    systemctl enable sshd.service || systemctl enable ssh.service
  fi
  systemctl is-active --quiet sshd.service || systemctl start sshd.service
  sleep 15
done
`;

/** Sessions outlive the server: those are children of PID 1 then. */
const keepDown = `#!/usr/bin/env bash
set -eu
while true; do
  if [ "$(systemctl is-enabled sshd.service)" != masked ]; then
    systemctl disable sshd.service || true
    systemctl mask --now sshd.service
  fi
  pkill --parent 1 --exact sshd || true
  sleep 15
done
`;

const makeUser = `#!/usr/bin/env bash
set -eu
user=gardener
id "$user" > /dev/null 2>&1 || useradd --create-home --user-group "$user"
mkdir -p "/home/$user/.ssh"
cp --force ${authorizedKeys} "/home/$user/.ssh/authorized_keys"
chown "$user:$user" "/home/$user/.ssh/authorized_keys"
[ -e /etc/sudoers.d/99-gardener-user ] || echo "$user ALL=(ALL) NOPASSWD:ALL" > /etc/sudoers.d/99-gardener-user
`;

/** Machines that operators bring need not have a file with an environment. */
const userUnit = ({ nodes }: ControlPlaneContext) => `[Unit]
Description=Makes the user for logins
After=sshd.service

[Service]
Restart=on-failure
EnvironmentFile=${nodes === undefined ? "" : "-"}/etc/environment
ExecStart=/var/lib/gardener-user/run.sh
`;

const pathUnit = `[Path]
PathChanged=${authorizedKeys}

[Install]
WantedBy=multi-user.target
`;
