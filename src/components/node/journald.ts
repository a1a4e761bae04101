import { textFile, type Part } from "./file.ts";

/** The journal is kept for 14 days. */
export function journald(): Part {
  return {
    files: [textFile("/etc/systemd/journald.conf", "[Journal]\nMaxFileSec=24h\nMaxRetentionSec=14day\n", 0o644)],
  };
}
