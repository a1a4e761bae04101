import { AsyncLocalStorage } from "node:async_hooks";
import { createContext, runInContext } from "node:vm";
import { beforeAll, expect, it } from "vitest";
import { buildWorkflows, type WorkflowBuild } from "../../../src/worker/build.ts";

let build: WorkflowBuild;
beforeAll(async () => void (build = await buildWorkflows()));

it("all workflows of a worker share the modules of our code: none loads its own", () => {
  const modules = {};
  const globals = { AsyncLocalStorage, TextEncoder, TextDecoder, URL, URLSearchParams, AbortController };
  const sandbox = createContext({ ...globals, __webpack_module_cache__: modules });
  runInContext(build.bundle.code, sandbox);
  runInContext("__TEMPORAL__.preloadModules()", sandbox);
  const shared = Object.keys(modules);
  expect(shared).toContain("./src/workflows/index.ts");
  runInContext("__TEMPORAL__.importWorkflows()", sandbox);
  expect(Object.keys(modules)).toEqual(shared);
});

it("the bundle maps traces to our files, and does not carry these", () => {
  const [, base64 = ""] = /sourceMappingURL=data:[^,]*,(.*)$/m.exec(build.bundle.code) ?? [];
  const map = JSON.parse(Buffer.from(base64, "base64").toString()) as { sources: string[]; sourcesContent?: string[] };
  expect(map.sources.some((file) => file.endsWith("/src/workflows/reconcile.ts"))).toBe(true);
  expect(map.sourcesContent).toBeUndefined();
});
