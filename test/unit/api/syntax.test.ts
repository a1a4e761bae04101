import { expect, test } from "vitest";
import type { z } from "zod";
import * as syntax from "../../../src/api/schema/syntax.ts";
import { jsonSchemaOf } from "../../../src/api/schema/walk.ts";

const long = (count: number) => "a".repeat(count);

test.each<[keyof typeof syntax, readonly string[], readonly string[]]>([
  ["dnsLabel", ["a", "a-1", long(63)], ["A", "a.b", "-a", "a-", "ä", long(64)]],
  [
    "domain",
    ["a.example.com", `${long(63)}.test`],
    [`${long(64)}.test`, "a..b", "a_b.test", "☃.test", "A.test", "a.test."],
  ],
  ["optionalName", ["", "a.b"], ["A", "a/b"]],
  ["identifier", ["Standard_D2", "gp3"], ["", "a b", "a/b", "-a"]],
  ["labelKey", ["a", "example.com/a_B.c"], ["", "/a", "a/", "a b"]],
  ["labelValue", ["", "a_B.c"], ["a b", "-a", long(64)]],
  ["duration", ["0", "1h30m", "1.5s", "10µs"], ["", "soon", "10", "-1h", "1d", "1h "]],
  ["network", ["10.0.0.0/8", "fd00::/64"], ["banana", "10.0.0.0", "10.0.0.0/", "/8"]],
  ["timeOfDay", ["220000+0100", "235959-2359"], ["never", "250000+0100", "2200+0100", "220060+0100"]],
  [
    "cron",
    ["0 20 * * *", "*/5 8-18 1,15 JAN-MAR 1-5", "0 0 ? * SUN", "@daily"],
    ["banana", "0 25 * * *", "0 20 * *", "@never"],
  ],
  ["timeZone", ["", "UTC", "Europe/Berlin", "Etc/GMT+1"], ["/", "Europe/", "a b"]],
  ["quantity", ["500m", "20Gi", "1.5", "1e3", ".5"], ["", "big", "-1", "20Gib", "5%"]],
  ["amountOrShare", ["200Mi", "5%", "2.5%"], ["%", "little", "-5%"]],
  ["share", ["0%", "50%", "100%"], ["50", "50percent", "101%", "-1%"]],
])("the form %s is that of %j, and not of %j", (form, right, wrong) => {
  const { pattern, maxLength, form: words } = jsonSchemaOf((syntax[form] as () => z.ZodType)());
  const fits = (text: string) => text.length <= Number(maxLength) && new RegExp(String(pattern)).test(text);
  expect(right.filter((text) => !fits(text))).toEqual([]);
  expect(wrong.filter(fits)).toEqual([]);
  expect(words).toMatch(/^an? /);
});
