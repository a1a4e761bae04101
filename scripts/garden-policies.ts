import { stringify } from "yaml";
import { reservedKeysPolicy } from "../src/admission/reserved-keys.ts";

/** The file in `deploy/garden` with the policy that is made from the table of keys that users may write. */
export function reservedKeysFile(): string {
  const documents = reservedKeysPolicy().map((object) =>
    stringify(object, { version: "1.1", lineWidth: 120, aliasDuplicateObjects: false }),
  );
  return `${header}${documents.join("---\n")}`;
}

const header = `# What objects of users state about themselves is written by Perennial's processes, but for the keys in variable \`open\`. Made from
# src/admission/reserved-keys.ts by \`npm run generate\`; docs/admission.md
`;
