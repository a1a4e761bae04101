import { textFile, type Part } from "./file.ts";
import { ROOT_CERTIFICATES } from "./root-certificates.ts";

const configuration = "/etc/systemd/containerd.conf";

/**
 * What is done about containerd beside its own configuration, which the agent makes out of `spec.criConfig`: it is started
 * anew when the machine trusts other authorities, and logs of pods are kept for 14 days.
 */
export function containerd(): Part {
  return {
    files: [textFile(configuration, logRotation, 0o644)],
    units: [
      { name: "containerd-logrotate.service", enable: true, content: rotateUnit, filePaths: [configuration] },
      { name: "containerd-logrotate.timer", command: "start", enable: true, content: timerUnit },
      { name: "containerd.service", filePaths: [ROOT_CERTIFICATES] },
    ],
  };
}

const logRotation = `/var/log/pods/*/*/*.log {
    daily
    rotate 14
    dateext
    dateformat -%Y%m%d-%s
    compress
    copytruncate
    create 0644 root root
    missingok
}
`;

/** logrotate removes what it has rotated, find what the kubelet has. */
const rotateUnit = `[Unit]
Description=Rotates and compresses the logs of pods
StartLimitBurst=5
StartLimitIntervalSec=30

[Service]
ExecStart=/usr/sbin/logrotate -s /var/lib/containerd-logrotate.status ${configuration}
ExecStartPost=-/usr/bin/find /var/log/pods -name "*.log.*" -mtime +14 -delete
Restart=on-failure
RestartSec=5

[Install]
WantedBy=multi-user.target
`;

/** Not on all machines at once. */
const timerUnit = `[Unit]
Description=Rotates the logs of pods once a day

[Timer]
OnCalendar=daily
AccuracySec=1min
RandomizedDelaySec=4h
Persistent=true

[Install]
WantedBy=multi-user.target
`;
