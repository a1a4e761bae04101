/**
 * The script with which a bastion starts: user `gardener` may log in with this key and become root, as Gardener's clients
 * expect. The key reaches the shell as data, whatever is written in it.
 */
export function bastionUserData(sshPublicKey: string): string {
  const keys = "/home/gardener/.ssh/authorized_keys";
  return `#!/bin/bash
set -eu

id gardener || useradd --create-home --user-group gardener
mkdir -p ${keys.replace(/\/[^/]+$/, "")}
printf '%s\\n' ${shellWord(sshPublicKey)} > ${keys}
chown gardener:gardener ${keys}
echo 'gardener ALL=(ALL) NOPASSWD:ALL' > /etc/sudoers.d/99-gardener-user
systemctl start sshd || systemctl start ssh
`;
}

/** The text as one word of a POSIX shell. */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
