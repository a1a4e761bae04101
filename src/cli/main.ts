import { createContext } from "./connection.ts";
import { perennial } from "./perennial.ts";
import { runProcess } from "./process.ts";
import { registry } from "./registry.ts";

await runProcess({ ...perennial, groups: registry }, (deps) => createContext({ ...deps, variables: process.env }));
