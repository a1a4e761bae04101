/** Where the runner of a bare machine answers `systemctl`. */
export const SOCKET = "/run/runner/socket";

/** Where the output of units is, in a file for each. */
export const LOGS = "/var/log/journal";

/** The administrator's unit files and links; what is enabled at each boot. */
export const OWN_UNITS = "/etc/systemd/system";

/** Those that vanish with the machine's power. */
export const VOLATILE_UNITS = "/run/systemd/system";

/** Those that the machine brings. */
export const MACHINE_UNITS = "/usr/local/lib/systemd/system";
