import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { headingsOf, pages, projectFolder, readPage } from "../../support/pages.ts";

it.each(pages)("%s links only to files and headings that there are", (page) => {
  for (const link of linksIn(page)) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    expect(existsSync(join(projectFolder, target)), `${page}: ${link}`).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target), `${page}: ${link}`).toContain(anchor);
  }
});

/** What a page links to, but for other sites. */
function linksIn(page: string): string[] {
  const links = [...readPage(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return headingsOf(page).map(({ text }) => {
    const words = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = words.replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}
