// The page in Firefox: what the tests of its tabs ask of Chromium.
process.env.CONTEXTWEAVER_TEST_BROWSER = "firefox";
for (const tab of ["page", "page-story", "page-tools", "page-mcp", "page-decisions"]) await import(`./${tab}.test.mjs`);
