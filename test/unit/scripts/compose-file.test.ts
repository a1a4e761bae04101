import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { podmanArguments, readComposeFile, startOrder } from "../../../scripts/rehearsal/compose-file.ts";

const file = join(import.meta.dirname, "../../../docker-compose.yml");
const text = readFileSync(file, "utf8");

test("the compose file's own services start after what they depend on", () => {
  const order = startOrder(readComposeFile(text, {}).services);
  const chain = ["postgresql", "temporal-schema", "temporal", "temporal-namespace", "manager"];
  expect(order.filter((name) => chain.includes(name))).toEqual(chain);
});

test("services that wait for each other are named", () => {
  const after = (other: string) => ({ image: "i", depends_on: { [other]: { condition: "service_started" as const } } });
  expect(() => startOrder({ a: after("b"), b: after("a") })).toThrow("services depend on each other: a, b, a");
});

test("variables are put in where they are set and not empty", () => {
  const image = (variables: Record<string, string>) =>
    readComposeFile("name: p\nservices: {a: {image: '${IMAGE:-b:1}-c'}}", variables).services["a"]?.image;
  expect([image({}), image({ IMAGE: "" }), image({ IMAGE: "d" })]).toEqual(["b:1-c", "b:1-c", "d-c"]);
});

test("a field that nothing acts on is refused, so that no service starts otherwise than compose would start it", () => {
  expect(() => readComposeFile("name: p\nservices: {a: {image: b, privileged: true}}", {})).toThrow(
    "cannot start service a: nothing acts on its privileged",
  );
});

test("one of our processes is confined as the file says, on the host's network", () => {
  const compose = readComposeFile(text, { PERENNIAL_KUBECONFIGS: "/kubeconfigs-of-mine" });
  const line = podmanArguments("worker-garden", compose, file).join(" ");
  expect(line).toContain("--name perennial-worker-garden --network host --env PERENNIAL_LOG_LEVEL=info");
  expect(line).toContain("--volume /kubeconfigs-of-mine:/kubeconfigs:ro");
  expect(line).toContain("--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges");
  expect(line).toMatch(/ perennial\.dev\/perennial:[\d.]+ dist\/worker\/main\.js garden$/);
});

test("a server is found by its service's name, keeps its data in a volume of the project, and runs another program", () => {
  const compose = readComposeFile(text, {});
  expect(podmanArguments("postgresql", compose, file).join(" ")).toMatch(
    /--network perennial --network-alias postgresql .*--volume perennial_postgresql:\/var\/lib\/postgresql\/data/,
  );
  const schema = podmanArguments("temporal-schema", compose, file);
  expect(schema).toContain('["/bin/sh","/deploy/setup-schema.sh"]');
  expect(schema).toContain(`${join(file, "../deploy/temporal")}:/deploy:ro`);
});
