// What page-story.test.mjs asks of Chromium, in Firefox.
process.env.CONTEXTWEAVER_TEST_BROWSER = "firefox";
await import("./page-story.test.mjs");
