import fc from "fast-check";
import { expect, test } from "vitest";
import { deriveEnvironment } from "../../src/local/environment/environment.ts";

test("an environment of any name but local gets another network and zone, and a bridge whose name the kernel takes", () => {
  const names = fc.stringMatching(/^[a-z][-a-z0-9]{0,30}[a-z0-9]$/).filter((name) => name !== "local");
  fc.assert(
    fc.property(names, (name) => {
      const environment = deriveEnvironment(name, "/state", ["172.30.0.0/16"]);
      expect(environment.network).toMatch(/^172\.(1[6-9]|2\d|3[01])\.0\.0\/16$/);
      expect(environment.network).not.toBe("172.30.0.0/16");
      expect(environment.bridge.length).toBeLessThanOrEqual(11);
      expect(environment.domain).toBe(`${name}.perennial.test`);
    }),
  );
});
