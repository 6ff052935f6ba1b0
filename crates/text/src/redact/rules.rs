//! Forms of credentials that are recognisable by themselves, as data.
//!
//! A row is found where a word starts with its prefix. Lengths are those that the vendor documents or issues; a longer
//! body counts as well unless the row is bounded, since vendors lengthen their tokens. Checksums, which some vendors put
//! into their tokens, are not asked for: a token with one wrong character is still worth hiding.

use super::chars::{
    ALNUM, ALNUM_DASH, ALNUM_UNDER, BASE64, DASH, DOT, DOTTED, EQUALS, HEX, PATH, UNDER, UPPER, URLSAFE,
};

/// What has to follow the prefix of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenShape {
    /// Exactly so many characters, ending at a word edge.
    Exact,
    /// At least so many characters.
    Least,
    /// A second part, after a dot, of at least the same length.
    Pair,
    /// The three parts of a JSON Web Token.
    Jwt,
    /// Between the least and the most characters, digits as well as letters, and the end of the run. For prefixes that
    /// words have too, so not behind a hyphen or a dot.
    Sized,
    /// As [`Self::Sized`], with letters of both cases. For prefixes that names of resources have too.
    Mixed,
    /// Three parts with dots, of which the first is counted and the second has six characters.
    Triple,
    /// A URL, of which the prefix may be the end of the host.
    Url,
    /// A value that is masked without the prefix.
    Value,
    /// So many characters of the class before the prefix and a separator, and any of a token behind it.
    Around,
}

/// The form of one kind of token, told by its prefix.
#[derive(Clone, Copy)]
pub(super) struct TokenRule {
    /// Number of the bit of the rule.
    pub(super) rule: u8,
    pub(super) shape: TokenShape,
    /// Literal prefix of three bytes or more, in which `?`, not in front, stands for one byte of `wild`.
    pub(super) prefix: &'static str,
    /// Bytes for a `?` of the prefix; without one, what has to stand in the body.
    pub(super) wild: &'static str,
    pub(super) class: u16,
    pub(super) least: u16,
    pub(super) most: u16,
}

/// Number of the rule of the rows that contextweaver 0.18 does not have.
const EXTRA: u8 = 15;

const fn row(rule: u8, prefix: &'static str, class: u16, shape: TokenShape, least: u16) -> TokenRule {
    TokenRule { rule, shape, prefix, wild: "", class, least, most: u16::MAX }
}

/// A token of at least so many characters behind its prefix.
const fn token(prefix: &'static str, class: u16, least: u16) -> TokenRule {
    row(EXTRA, prefix, class, TokenShape::Least, least)
}

/// A token of so many characters behind a prefix that words have too.
const fn sized(prefix: &'static str, class: u16, least: u16, most: u16) -> TokenRule {
    TokenRule { most, ..row(EXTRA, prefix, class, TokenShape::Sized, least) }
}

/// A token of so many characters and letters of both cases, behind a prefix that names of resources have too.
const fn mixed(prefix: &'static str, class: u16, least: u16, most: u16) -> TokenRule {
    TokenRule { most, ..row(EXTRA, prefix, class, TokenShape::Mixed, least) }
}

/// A URL that is a credential, up to its secret part.
const fn url(prefix: &'static str, least: u16) -> TokenRule {
    row(EXTRA, prefix, PATH, TokenShape::Url, least)
}

const fn wild(set: &'static str, row: TokenRule) -> TokenRule {
    TokenRule { wild: set, ..row }
}

const DIGITS: &str = "0123456789";
const HEX_DIGITS: &str = "0123456789abcdef";
const ALPHANUMERIC: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Third characters of base64 of decimal digits.
const OF_DIGITS: &str = "AEIMQUYcgk";

#[rustfmt::skip]
pub(super) const RULES: [TokenRule; 282] = [
    // Longer than the form of contextweaver 0.18, so before it. GitHub Changelog, "GitHub App installation tokens:
    // per-request override header": a JSON Web Token behind `ghs_`.
    token("ghs_", DOTTED, 36),

    // Those of contextweaver 0.18, by the number of its rule.
    row(1, "A3T", UPPER, TokenShape::Exact, 17),
    row(1, "AKIA", UPPER, TokenShape::Exact, 16),
    row(1, "AGPA", UPPER, TokenShape::Exact, 16),
    row(1, "AIDA", UPPER, TokenShape::Exact, 16),
    row(1, "AROA", UPPER, TokenShape::Exact, 16),
    row(1, "AIPA", UPPER, TokenShape::Exact, 16),
    row(1, "ANPA", UPPER, TokenShape::Exact, 16),
    row(1, "ANVA", UPPER, TokenShape::Exact, 16),
    row(1, "ASIA", UPPER, TokenShape::Exact, 16),
    row(2, "AIza", URLSAFE, TokenShape::Exact, 35),
    wild("pousr", row(3, "gh?_", ALNUM, TokenShape::Least, 36)),
    wild("baprs", row(4, "xox?-", ALNUM_DASH, TokenShape::Least, 10)),
    row(5, "sk-ant-", URLSAFE, TokenShape::Least, 20),
    row(6, "sk-", URLSAFE, TokenShape::Least, 20),
    row(7, "github_pat_", ALNUM_UNDER, TokenShape::Least, 22),
    wild(DIGITS, row(8, "xapp-?-", ALNUM_DASH, TokenShape::Least, 10)),
    row(9, "sk_live_", ALNUM, TokenShape::Least, 16),
    row(9, "rk_live_", ALNUM, TokenShape::Least, 16),
    row(10, "SG.", URLSAFE, TokenShape::Pair, 16),
    row(11, "eyJ", URLSAFE, TokenShape::Jwt, 1),

    // docs.aws.amazon.com: IAM unique identifiers; Bedrock API keys, of which the long-lived carry `ABSK` and the
    // short-lived a signed URL as base64.
    row(EXTRA, "ABIA", UPPER, TokenShape::Exact, 16),
    row(EXTRA, "ACCA", UPPER, TokenShape::Exact, 16),
    token("ABSK", BASE64, 100),
    token("bedrock-api-key-", BASE64, 60),
    token("amzn.mws.", ALNUM_DASH, 36),
    token("amzn1.oa2-cs.v1.", ALNUM, 64),

    // GitLab Docs, "GitLab token overview" (prefixes; an instance may put its own in front), "Token information API".
    token("glpat-", DOTTED, 20),
    token("gldt-", URLSAFE, 20),
    token("glrt-", DOTTED, 20),
    token("glrtr-", DOTTED, 20),
    token("glptt-", ALNUM_DASH, 20),
    token("glft-", URLSAFE, 20),
    token("glimt-", URLSAFE, 20),
    token("glagent-", URLSAFE, 20),
    token("gloas-", URLSAFE, 40),
    token("glcbt-", URLSAFE, 20),
    token("glsoat-", URLSAFE, 20),
    token("glffct-", URLSAFE, 20),
    token("glwt-", URLSAFE, 20),
    token("GR1348941", URLSAFE, 20),
    row(EXTRA, "_gitlab_session=", ALNUM, TokenShape::Value, 32),
    row(EXTRA, "_gitlab_session%3D", ALNUM, TokenShape::Value, 32),
    // Atlassian Support: API tokens, access tokens and app passwords of Bitbucket, tokens of Bitbucket Data Center.
    token("ATATT", BASE64 | URLSAFE, 40),
    token("ATCTT", BASE64 | URLSAFE, 40),
    token("ATBB", URLSAFE | EQUALS, 24),
    token("BBDC-", BASE64 | URLSAFE, 40),

    // api.slack.com/authentication/token-types and /messaging/webhooks.
    token("xoxe-", ALNUM_DASH, 20),
    wild("bp", token("xoxe.xox?-", ALNUM_DASH, 20)),
    wild("cdo", token("xox?-", URLSAFE, 20)),
    url("hooks.slack.com/services/", 20),
    url("hooks.slack.com/workflows/", 20),
    url("hooks.slack.com/triggers/", 20),
    // discord.com/developers: reference (the first part of a token of a bot is its number as base64), webhooks.
    wild(OF_DIGITS, row(EXTRA, "MT?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "MD?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "Mj?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "Mz?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "ND?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "NT?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "Nj?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "Nz?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "OD?", URLSAFE, TokenShape::Triple, 20)),
    wild(OF_DIGITS, row(EXTRA, "OT?", URLSAFE, TokenShape::Triple, 20)),
    url("discord.com/api/webhooks/", 60),
    url("discordapp.com/api/webhooks/", 60),
    // learn.microsoft.com: incoming webhooks of Teams, workflows.
    url("webhook.office.com/webhookb2/", 60),
    url("outlook.office.com/webhook/", 60),
    url("logic.azure.com/workflows/", 30),
    // help.zapier.com, ifttt.com/maker_webhooks, developers.google.com/chat: webhooks.
    url("hooks.zapier.com/hooks/catch/", 10),
    url("maker.ifttt.com/use/", 16),

    // platform.openai.com, docs.anthropic.com and others of models with `sk-` are the rules 5 and 6.
    // huggingface.co/docs/hub/security-tokens; old tokens of organizations.
    token("hf_", ALNUM, 20),
    token("api_org_", ALNUM, 34),
    // console.groq.com, docs.x.ai, docs.perplexity.ai, replicate.com/docs, docs.nvidia.com, fireworks.ai, docs.cohere.com,
    // docs.pinecone.io, docs.smith.langchain.com, langfuse.com, elevenlabs.io, tavily.com, jina.ai, e2b.dev, exa.ai,
    // voyageai.com, cerebras.ai, stability.ai, firecrawl.dev, wandb.ai, modal.com
    token("gsk_", ALNUM, 20),
    token("xai-", ALNUM_UNDER, 40),
    token("pplx-", ALNUM, 40),
    sized("r8_", URLSAFE, 37, 48),
    token("nvapi-", URLSAFE, 40),
    mixed("fw_", ALNUM, 22, 48),
    token("pcsk_", ALNUM_UNDER, 40),
    token("lsv2_pt_", ALNUM_UNDER, 32),
    token("lsv2_sk_", ALNUM_UNDER, 32),
    token("sk-lf-", ALNUM_DASH, 36),
    sized("sk_", HEX, 32, 64),
    token("tvly-", ALNUM_DASH, 32),
    token("jina_", URLSAFE, 40),
    token("e2b_", HEX, 40),
    mixed("pa-", URLSAFE, 40, 48),
    token("fc-", HEX, 32),

    // docs.npmjs.com, pypi.org/help, guides.rubygems.org, doc.rust-lang.org/cargo, learn.microsoft.com/nuget,
    // clojars.org, docs.docker.com, docs.deno.com, hex.pm, jsr.io, packagist.com, jfrog.com/help
    token("npm_", ALNUM, 20),
    token("pypi-AgE", URLSAFE, 40),
    token("rubygems_", HEX, 48),
    sized("cio", ALNUM, 32, 33),
    sized("oy2", ALNUM, 43, 43),
    token("CLOJARS_", ALNUM, 60),
    token("dckr_pat_", URLSAFE, 27),
    token("dckr_oat_", URLSAFE, 27),
    token("ddp_", ALNUM, 36),
    token("ddo_", ALNUM, 36),
    token("jsrp_", ALNUM, 36),
    sized("AKCp", ALNUM, 69, 96),
    token("cmVmdGtuO", ALNUM, 50),
    token("artifactory_", ALNUM, 60),

    // cloud.google.com: OAuth client secrets, access and refresh tokens, service accounts' HMAC keys; Firebase messaging.
    // Gemini API docs, "Using Gemini API keys": authorization keys, which follow those with `AIza`.
    token("GOCSPX-", URLSAFE, 20),
    token("AQ.Ab", URLSAFE, 30),
    token("ya29.", URLSAFE, 20),
    token("APA91b", URLSAFE, 120),
    token("1//0", URLSAFE, 30),

    // cloudflare.com: origin CA keys, API tokens. digitalocean.com, linode, vultr, fly.io, heroku.com, render.com,
    // railway.app, vercel.com, docs.netlify.com, supabase.com, neon.tech, planetscale.com, turso.tech, upstash.com,
    // scalingo.com, scaleway.com, tailscale.com, docs.defined.net, ngrok.com, alibabacloud.com, cloud.tencent.com,
    // yandex.cloud, oracle, ibm, exoscale, docs.databricks.com
    // Cloudflare docs, "Token formats": 40 characters and a checksum.
    token("v1.0-", ALNUM_DASH, 160),
    token("cfut_", ALNUM, 40),
    token("cfat_", ALNUM, 40),
    token("cfk_", ALNUM, 40),
    token("dop_v1_", ALNUM, 40),
    token("doo_v1_", ALNUM, 40),
    token("dor_v1_", ALNUM, 40),
    token("fo1_", URLSAFE, 40),
    token("fm1a_", BASE64, 80),
    token("fm1r_", BASE64, 80),
    token("fm2_", BASE64, 80),
    token("HRKU-", URLSAFE, 36),
    token("rnd_", ALNUM, 28),
    // Vercel Changelog, "New token formats and secret scanning": the lengths are not told.
    wild("paikr", mixed("vc?_", ALNUM, 24, 128)),
    // Netlify Support, "Change to the Netlify authentication token format": 40 characters.
    wild("pcoub", sized("nf?_", ALNUM_UNDER, 36, 36)),
    token("sbp_", ALNUM_UNDER, 40),
    token("sb_secret_", URLSAFE, 30),
    token("napi_", ALNUM, 48),
    token("pscale_tkn_", URLSAFE | DOT | EQUALS, 32),
    token("pscale_oauth_", URLSAFE | DOT | EQUALS, 32),
    token("pscale_pw_", URLSAFE | DOT | EQUALS, 32),
    token("tk-us-", URLSAFE, 48),
    token("tskey-", ALNUM_DASH, 20),
    token("dnkey-", URLSAFE | EQUALS, 40),
    sized("LTAI", ALNUM, 12, 26),
    sized("AKID", ALNUM, 32, 36),
    wild(ALPHANUMERIC, sized("YC?", URLSAFE, 37, 37)),
    sized("AQVN", URLSAFE, 35, 38),
    token("t1.", URLSAFE | DOT | EQUALS, 80),
    wild(HEX_DIGITS, sized("dapi?", HEX | ALNUM_DASH, 31, 33)),
    wild(HEX_DIGITS, sized("dose?", HEX | ALNUM_DASH, 31, 33)),

    // developer.hashicorp.com: Vault's service, batch and recovery tokens, Terraform Cloud, Consul has UUIDs.
    token("hvs.", URLSAFE, 24),
    token("hvb.", URLSAFE, 100),
    token("hvr.", URLSAFE, 24),
    wild(ALPHANUMERIC, sized("s.?", ALNUM, 23, 23)),
    row(EXTRA, "atlasv1.", ALNUM, TokenShape::Around, 14),
    // 1password.com, doppler.com, infisical.com, bitwarden.com, age-encryption.org, pulumi.com, prefect.io,
    // harness.io, infracost.io, snyk.io, sonarqube.org, sourcegraph.com, codecov, circleci.com, buildkite.com,
    // travis-ci.com, octopus.com, launchdarkly.com, posthog.com, sentry.io, grafana.com, newrelic.com, dynatrace.com,
    // datadoghq.com, honeycomb.io, splunk, rollbar, logz, elastic.co
    token("ops_eyJ", URLSAFE, 200),
    token("A3-", UPPER | DASH, 30),
    token("dp.pt.", ALNUM, 40),
    token("dp.st.", DOTTED, 40),
    token("dp.ct.", ALNUM, 40),
    token("dp.sa.", ALNUM, 40),
    token("dp.scim.", ALNUM, 40),
    token("dp.audit.", ALNUM, 40),
    sized("st.", HEX | DASH | DOT, 56, 110),
    token("AGE-SECRET-KEY-1", UPPER, 58),
    token("AGE-SECRET-KEY-PQ-1", UPPER, 58),
    token("pul-", ALNUM, 40),
    token("pnu_", ALNUM, 36),
    token("pnb_", ALNUM, 36),
    sized("pat.", DOTTED, 60, 80),
    sized("sat.", DOTTED, 60, 80),
    sized("ico-", ALNUM, 32, 32),
    token("snyk_", DOTTED, 40),
    wild("uap", sized("sq?_", ALNUM, 40, 40)),
    token("sgp_", ALNUM_UNDER, 40),
    token("sgd_", ALNUM_UNDER, 40),
    token("slk_", HEX, 60),
    token("CCIPAT_", ALNUM_UNDER, 40),
    token("CCIPRJ_", ALNUM_UNDER, 40),
    // Buildkite docs, "Token security": user, agent session and agent job tokens.
    token("bkua_", ALNUM, 40),
    token("bkaa_", DOTTED, 40),
    token("bkaj_", DOTTED, 40),
    sized("API-", UPPER, 25, 29),
    wild(HEX_DIGITS, sized("sdk-?", HEX | ALNUM_DASH, 35, 35)),
    wild(HEX_DIGITS, sized("api-?", HEX | ALNUM_DASH, 35, 35)),
    token("phx_", ALNUM, 40),
    token("phs_", ALNUM, 40),
    token("sntrys_", BASE64 | URLSAFE, 60),
    token("sntryu_", HEX, 60),
    token("sntrya_", HEX, 60),
    token("eyJrIjoi", BASE64, 50),
    token("glc_", BASE64, 32),
    token("glsa_", ALNUM_UNDER, 40),
    token("NRAK-", ALNUM, 27),
    token("NRII-", URLSAFE, 25),
    token("NRIQ-", URLSAFE, 25),
    token("NRJS-", HEX, 19),
    token("NRRA-", HEX, 40),
    token("dt0c01.", DOTTED, 60),
    token("dt0s01.", DOTTED, 60),
    token("dt0s02.", DOTTED, 60),
    token("dt0s16.", DOTTED, 60),
    token("essu_", BASE64, 40),

    // docs.stripe.com/keys, developer.squareup.com, shopify.dev, developer.paypal.com, adyen.com, plaid.com,
    // flutterwave.com, paystack.com, razorpay.com, gocardless.com, mollie.com, coinbase, docs.checkout.com
    token("sk_test_", ALNUM, 16),
    token("rk_test_", ALNUM, 16),
    token("sk_prod_", ALNUM, 16),
    token("rk_prod_", ALNUM, 16),
    token("whsec_", BASE64, 20),
    token("sq0atp-", URLSAFE, 22),
    token("sq0csp-", URLSAFE, 40),
    sized("EAAA", URLSAFE, 22, 64),
    token("shpat_", ALNUM, 32),
    token("shpca_", ALNUM, 32),
    token("shppa_", ALNUM, 32),
    token("shpss_", ALNUM, 32),
    token("shpua_", ALNUM, 32),
    token("access_token$production$", ALNUM, 32),
    token("access_token$sandbox$", ALNUM, 32),
    token("access-production-", ALNUM_DASH, 36),
    token("access-development-", ALNUM_DASH, 36),
    token("access-sandbox-", ALNUM_DASH, 36),
    token("FLWSECK-", ALNUM_DASH, 30),
    token("FLWSECK_TEST-", ALNUM, 12),
    // Paddle docs, "Authentication".
    token("pdl_live_apikey_", ALNUM_UNDER, 40),
    token("pdl_sdbx_apikey_", ALNUM_UNDER, 40),
    token("rzp_live_", ALNUM, 14),
    token("rzp_test_", ALNUM, 14),
    // twilio.com, sendgrid.com (rule 10), mailgun.com, mailchimp.com, brevo.com, postmark, resend.com, mailersend.com,
    // mandrill, telnyx, vonage, messagebird, klaviyo.com, customer.io, courier
    wild(HEX_DIGITS, sized("SK?", HEX, 31, 31)),
    sized("key-", ALNUM, 32, 32),
    wild(DIGITS, row(EXTRA, "us?", HEX, TokenShape::Around, 32)),
    token("xkeysib-", ALNUM_DASH, 64),
    token("xsmtpsib-", ALNUM_DASH, 64),
    sized("re_", ALNUM_UNDER, 20, 40),
    token("mlsn.", HEX, 60),
    // developers.facebook.com, developer.x.com, developers.notion.com, airtable.com, linear.app, asana, figma.com,
    // typeform.com, dropbox.com, contentful.com, developer.adobe.com, developer.frame.io, postman.com, readme.com,
    // mapbox.com, maxmind.com, wakatime.com, duffel.com, easypost.com, goshippo.com, lob.com, beamer, clickhouse.com,
    // clickup.com, authress.io, okta.com, openshift.com, settlemint, intra.42.fr, storyblok, sanity.io, algolia
    sized("EAAC", ALNUM, 90, 400),
    sized("EAAM", ALNUM, 90, 400),
    sized("EAAG", ALNUM, 90, 400),
    sized("EAAB", ALNUM, 90, 400),
    // HubSpot docs, "Private apps": by the region of the account.
    token("pat-na", ALNUM_DASH, 36),
    token("pat-eu", ALNUM_DASH, 36),
    token("pat-ap", ALNUM_DASH, 36),
    token("ntn_", ALNUM, 43),
    sized("secret_", ALNUM, 43, 43),
    sized("pat", DOTTED, 79, 79),
    token("lin_api_", ALNUM, 32),
    token("lin_oauth_", ALNUM, 32),
    token("figd_", URLSAFE, 38),
    token("figoh_", URLSAFE, 38),
    token("tfp_", DOTTED, 50),
    token("sl.", DOTTED | EQUALS, 100),
    token("CFPAT-", URLSAFE, 40),
    token("p8e-", ALNUM, 32),
    token("fio-u-", URLSAFE | EQUALS, 60),
    token("PMAK-", ALNUM_DASH, 50),
    token("rdme_", ALNUM, 60),
    token("sk.eyJ", DOTTED, 40),
    token("tk.eyJ", DOTTED, 40),
    token("waka_", ALNUM_DASH, 36),
    token("duffel_live_", URLSAFE | EQUALS, 40),
    token("duffel_test_", URLSAFE | EQUALS, 40),
    sized("EZAK", ALNUM, 54, 54),
    sized("EZTK", ALNUM, 54, 54),
    token("shippo_live_", HEX, 40),
    token("shippo_test_", HEX, 40),
    sized("live_", URLSAFE, 35, 44),
    sized("test_", HEX, 35, 40),
    wild(ALPHANUMERIC, sized("b_?", URLSAFE | EQUALS, 43, 43)),
    sized("4b1d", ALNUM, 38, 38),
    token("s-s4t2ud-", HEX, 60),
    token("s-s4t2af-", HEX, 60),
    row(EXTRA, "sha256~", URLSAFE, TokenShape::Least, 40),
    wild(".acc", sized("sc_", DOTTED | BASE64, 60, 200)),
    wild(".acc", sized("ext_", DOTTED | BASE64, 60, 200)),
    wild(".acc", sized("scauth_", DOTTED | BASE64, 60, 200)),
    wild(".acc", sized("authress_", DOTTED | BASE64, 60, 200)),
    // MongoDB Atlas service accounts, Adafruit IO, Apify, Dependency-Track, StackHawk, Portainer, Salad Cloud, Rootly, Ramp,
    // Sonar (organizations), Pagar.me, Alchemy, ClickUp, Stripe (secrets of payments for the client).
    token("mdb_sa_sk_", URLSAFE, 40),
    token("aio_", ALNUM, 28),
    token("apify_api_", ALNUM, 36),
    token("odt_", ALNUM, 32),
    token("hawk.", DOTTED, 41),
    sized("ptr_", BASE64 | URLSAFE, 40, 60),
    token("salad_cloud_", ALNUM_UNDER, 20),
    token("rootly_", HEX, 64),
    token("ramp_sec_", ALNUM, 48),
    token("sqco_", ALNUM, 40),
    token("ak_live_", ALNUM, 30),
    token("alcht_", ALNUM, 30),
    sized("pk_", UPPER | UNDER, 40, 42),
    wild("_secret_", sized("pi_", ALNUM_UNDER, 50, 60)),
    token("u-s4t2ud-", HEX, 60),
    token("sm_aat_", ALNUM, 16),
    token("sm_pat_", ALNUM, 16),
    token("sm_sat_", ALNUM, 16),
    token("ZXlK", BASE64 | URLSAFE, 90),
];

/// What a word announces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// The marker of a key block.
    Begin,
    /// A scheme of authorization.
    Scheme,
    /// A command of which an option takes `user:password`.
    User,
    /// A command with an option for a password, by its letter.
    Option(u8),
    /// A command with an option for a password that is written without a space.
    Attached(u8),
    /// The password of a `.netrc` file, or of a statement of a database.
    Netrc,
    /// The password of a user of a database, so many bytes behind.
    Identified(usize),
    /// The value of a name, in a sentence.
    Is,
    /// A name and a value with white space between.
    Pair,
    /// A call of which the arguments are a name and a value.
    Call,
    /// `user/password@database`, so many bytes behind.
    Login(usize),
    /// The response of a client that logs in to a mail server.
    Sasl(usize),
    /// The question of a mail server for a password.
    Prompt(usize),
    /// The number of a key, and its value.
    NumberedKey(usize),
    /// The second field of a line of a file of cookies.
    CookieLine,
    /// The table and the columns of a statement that inserts.
    Insert(usize),
    /// The table and the columns of rows that follow.
    Copy(usize),
    /// The scheme of a signed request.
    Signed,
}

/// The words, in lower case and three bytes or longer. Options are those of the manuals of the commands.
#[rustfmt::skip]
pub(super) const WORDS: [(&str, Word); 66] = [
    ("begin ", Word::Begin), ("bearer", Word::Scheme), ("basic", Word::Scheme),
    ("curl ", Word::User), ("sshpass ", Word::Option(b'p')), ("docker login ", Word::Option(b'p')),
    ("podman login ", Word::Option(b'p')), ("az login ", Word::Option(b'p')), ("redis-cli ", Word::Option(b'a')),
    ("ldapsearch ", Word::Option(b'w')), ("sqlcmd ", Word::Option(b'P')), ("mongosh ", Word::Option(b'p')),
    ("mysql ", Word::Attached(b'p')), ("mysqldump ", Word::Attached(b'p')), ("mysqladmin ", Word::Attached(b'p')),
    ("mariadb ", Word::Attached(b'p')), ("7z ", Word::Attached(b'p')), ("7za ", Word::Attached(b'p')),
    ("mongo ", Word::Option(b'p')), ("mongodump ", Word::Option(b'p')), ("mongorestore ", Word::Option(b'p')),
    ("mongoexport ", Word::Option(b'p')), ("mongoimport ", Word::Option(b'p')), ("bcp ", Word::Option(b'P')),
    ("zip ", Word::Option(b'P')), ("unzip ", Word::Option(b'P')),
    ("ssh-keygen ", Word::Option(b'N')), ("ldapadd ", Word::Option(b'w')), ("ldapmodify ", Word::Option(b'w')),
    ("ldapwhoami ", Word::Option(b'w')), ("ipmitool ", Word::Option(b'P')), ("smbclient ", Word::User),
    ("password", Word::Netrc), ("identified by ", Word::Identified(14)), ("identified with ", Word::Identified(16)), ("is \"", Word::Is), ("is '", Word::Is), ("is `", Word::Is), ("is \\", Word::Is),
    ("env ", Word::Pair), ("setx ", Word::Pair), ("setenv ", Word::Pair), ("aws configure set ", Word::Pair),
    ("set(", Word::Call), ("put(", Word::Call), ("setheader(", Word::Call),
    ("setproperty(", Word::Call), ("define(", Word::Call), ("setenv(", Word::Call), ("append(", Word::Call),
    // Oracle, "JDBC URL format"; SQL*Plus.
    ("jdbc:oracle:thin:", Word::Login(17)), ("jdbc:oracle:oci:", Word::Login(16)), ("sqlplus ", Word::Login(8)),
    // RFC 4616, and the question of AUTH LOGIN: `Password:` as base64.
    ("auth plain ", Word::Sasl(11)), ("authenticate plain ", Word::Sasl(19)), ("334 ugfzc3dvcmq6", Word::Prompt(16)),
    // developer.hashicorp.com/vault: what `operator init` prints.
    ("unseal key ", Word::NumberedKey(11)), ("recovery key ", Word::NumberedKey(13)),
    // curl.se/docs/http-cookies.html: the format of cookie files.
    ("true\t", Word::CookieLine), ("false\t", Word::CookieLine),
    ("insert into ", Word::Insert(12)), ("replace into ", Word::Insert(13)), ("insert ignore into ", Word::Insert(19)), ("copy ", Word::Copy(5)),
    // AWS, "Signature Version 4"; Google Cloud Storage, "V4 signing".
    ("aws4-hmac-sha256 ", Word::Signed), ("goog4-rsa-sha256 ", Word::Signed),
];
