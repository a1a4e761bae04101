import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { reservedKeysPolicy } from "../src/admission/reserved-keys.ts";

/** The file in `deploy/garden` with the policy that is made from the table of keys that users may write. */
export function reservedKeysFile(): string {
  const documents = reservedKeysPolicy().map((object) =>
    stringify(object, { version: "1.1", lineWidth: 120, aliasDuplicateObjects: false }),
  );
  return `${header}${documents.join("---\n")}`;
}

/** The file in `deploy/garden` with a policy that management clusters have, too; a name of its own keeps either when the other is taken away. */
export function dnsRecordsFile(): string {
  const source = readFileSync(join(import.meta.dirname, "../deploy/cluster-api/endpoint-admission.yaml"), "utf8");
  const documents = source.split("---\n").filter((text) => /^ {2}name: perennial-dns-records$/m.test(text));
  const text = documents.join("---\n").replaceAll(": perennial-dns-records\n", ": perennial-garden-dns-records\n");
  return `# Made from deploy/cluster-api/endpoint-admission.yaml by \`npm run generate\`\n${text}`;
}

const header = `# What objects of users state about themselves is written by Perennial's processes, but for the keys in variable \`open\`. Made from
# src/admission/reserved-keys.ts by \`npm run generate\`; docs/admission.md
`;
