/** `npm run image`: builds the project's image without a daemon and says where its tar is; nothing else of it stays. */
import { ensureImage } from "./image/perennial.ts";

process.stdout.write(`${await ensureImage()}\n`);
