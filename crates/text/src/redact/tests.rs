//! Tables of secrets and near misses, running time, and idempotence.

use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::json;

use super::chars::{ALNUM, STEPS, is};
use super::rules::{RULES, TokenRule, TokenShape};
use super::*;

const M: &str = SECRET_MASK;

/// Writes the mask as `#` and checks a table of inputs and outputs.
fn check(rows: &[(&str, &str)]) {
    for &(text, wanted) in rows {
        let wanted = wanted.replace('#', M);
        let found = redact_secrets(text, M);
        assert_eq!(found, wanted, "input {text:?}");
        assert_eq!(contains_secret(text), text != wanted, "contains {text:?}");
        assert_eq!(redact_secrets(&wanted, M), wanted, "twice {text:?}");
        assert!(!contains_secret(&wanted), "still contains {wanted:?}");
    }
}

/// Checks inputs that have to stay as they are.
fn check_clean(rows: &[&str]) {
    for &text in rows {
        let found = redact_secrets(text, M);
        assert!(matches!(found, Cow::Borrowed(_)), "input {text:?} became {found:?}");
        assert!(!contains_secret(text), "contains {text:?}");
    }
}

/// Joins parts at run time, so that this file holds no complete token.
fn token(prefix: &str, size: usize) -> String {
    let body = "A1b2C3d4E5f6G7h8".chars().cycle().take(size);
    prefix.chars().chain(body).collect()
}

#[test]
fn prefixed_tokens_need_their_full_length() {
    for (prefix, least) in [
        ("ghp_", 36),
        ("ghr_", 36),
        ("xoxb-", 10),
        ("sk-", 20),
        ("sk-ant-", 20),
        ("sk-proj-", 20),
        ("github_pat_", 22),
        ("xapp-1-", 10),
        ("sk_live_", 16),
        ("rk_live_", 16),
        ("AIza", 35),
        ("SG.aaaaaaaaaaaaaaaa.", 16),
        ("eyJa.eyJb.", 1),
        ("sk_test_", 16),
        ("rk_test_", 16),
        ("glpat-", 20),
        ("hf_", 20),
        ("npm_", 20),
        ("gsk_", 20),
        ("whsec_", 20),
        ("shpat_", 32),
        ("dop_v1_", 40),
        ("xai-", 40),
        ("pplx-", 40),
        ("pypi-AgE", 40),
        ("ya29.", 20),
    ] {
        let long = format!("use {} now", token(prefix, least));
        let long = long.as_str();
        check(&[(long, "use # now")]);
        // A generic `sk-` token also covers `sk-proj-` and `sk-ant-` bodies that are a bit shorter.
        if !matches!(prefix, "sk-proj-" | "sk-ant-") {
            check_clean(&[&format!("use {} now", token(prefix, least - 1))]);
        }
        check_clean(&[&format!("use x{} now", token(prefix, least))]);
    }
}

/// A made-up body: letters of both cases and digits, in an order that repeats late.
fn body(alphabet: &str, size: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    (0..size).map(|at| letters[(at * 7 + at / letters.len() + 3) % letters.len()]).collect()
}

#[test]
fn every_form_is_masked_in_every_place() {
    const ANY: &str = "aB3dE6gH1jK4mN7pQ2sT5vW8xYz90";
    const HEX: &str = "0a1b2c3d4e5f6789";
    const CAPITALS: &str = "A2B4C6D7E3F5GHJKLMNP";
    #[rustfmt::skip]
    let forms = [
        ("AK\u{1}IA", CAPITALS, 16), ("AB\u{1}SK", ANY, 120), ("bedrock-\u{1}api-key-", ANY, 80), ("gl\u{1}dt-", ANY, 20),
        ("gl\u{1}rt-", ANY, 20), ("GR13\u{1}48941", ANY, 20), ("ATA\u{1}TT3", ANY, 80), ("xoxe.\u{1}xoxp-1-", ANY, 60),
        ("xoxe-1-\u{1}", ANY, 60), ("npm\u{1}_", ANY, 36), ("rubygems\u{1}_", HEX, 48), ("oy\u{1}2", ANY, 43),
        ("dckr_\u{1}pat_", ANY, 27), ("AKC\u{1}p", ANY, 69), ("cmVmd\u{1}GtuO", ANY, 55), ("GOC\u{1}SPX-", ANY, 28),
        ("1//\u{1}0", ANY, 60), ("do\u{1}o_v1_", HEX, 64), ("fo1\u{1}_", ANY, 43), ("HRKU\u{1}-", ANY, 60), ("sbp\u{1}_", HEX, 40),
        ("pscale\u{1}_tkn_", ANY, 43), ("tskey-\u{1}auth-", ANY, 30), ("LT\u{1}AI", ANY, 20), ("dapi\u{1}", HEX, 32),
        ("hv\u{1}s.", ANY, 95), ("s.\u{1}", ANY, 24), ("dp.\u{1}pt.", ANY, 43), ("AGE-SECRET\u{1}-KEY-1", CAPITALS, 58),
        ("pul\u{1}-", HEX, 40), ("pnu\u{1}_", ANY, 36), ("sgp\u{1}_", HEX, 40), ("API\u{1}-", CAPITALS, 26), ("glsa\u{1}_", ANY, 41),
        ("eyJr\u{1}Ijoi", ANY, 80), ("NRAK\u{1}-", CAPITALS, 27), ("dt0c01\u{1}.", ANY, 89), ("sk_te\u{1}st_", ANY, 24),
        ("sq0atp\u{1}-", ANY, 22), ("EAA\u{1}A", ANY, 60), ("shpca\u{1}_", HEX, 32), ("SK\u{1}", HEX, 32), ("key\u{1}-", HEX, 32),
        ("xkeysib\u{1}-", HEX, 80), ("EAA\u{1}C", ANY, 120), ("ntn\u{1}_", ANY, 46), ("lin_api\u{1}_", ANY, 40), ("figd\u{1}_", ANY, 40),
        ("PMAK\u{1}-", HEX, 59), ("EZA\u{1}K", ANY, 54), ("shippo\u{1}_live_", HEX, 40), ("sha256\u{1}~", ANY, 43),
        ("ghs_123456_eyJ\u{1}hbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.", ANY, 80), ("AQ.\u{1}Ab", ANY, 45),
        ("vci\u{1}_", ANY, 56), ("nfo\u{1}_", ANY, 36), ("pdl_live_apikey\u{1}_", ANY, 50), ("pat-na\u{1}1-", HEX, 36),
        ("xai-\u{1}a_", ANY, 78), ("pa-\u{1}", ANY, 43), ("fw_\u{1}", ANY, 24), ("bkaj\u{1}_", ANY, 60), ("pk\u{1}_1234567_", CAPITALS, 32),
        ("ext_abc12.ab1c2.acc\u{1}_a1b2c3d4e5.", ANY, 60), ("r8\u{1}_", ANY, 37), ("nvapi\u{1}-", ANY, 64), ("https://hooks.slack\u{1}.com/services/", ANY, 44),
        ("https://discord\u{1}.com/api/webhooks/", ANY, 88), ("https://acme.webhook\u{1}.office.com/webhookb2/", ANY, 80),
    ];
    for (prefix, alphabet, size) in forms {
        let secret = format!("{}{}", prefix.replace('\u{1}', ""), body(alphabet, size));
        #[rustfmt::skip]
        let places = [
            "S", "Use S for staging.", "(S)", "{\"v\": \"S\"}", "{\\\"v\\\": \\\"S\\\"}", "a\\nS\\n", "x=%22S%22", "\\u0022S\\u0022", "\u{1b}[32mS\u{1b}[0m",
            "<v>S</v>", "a,S,b", "`S`", "\u{5bc6}S\u{3002}",
        ];
        for place in places {
            let text = place.replace('S', &secret).replace(&format!("U{}", &secret[..1]), &secret[..1]);
            let masked = redact_secrets(&text, M);
            assert!(!masked.contains(&secret[secret.len() - 8..]), "{text} became {masked}");
            assert_eq!(redact_secrets(&masked, M), masked);
        }
    }
}

#[test]
fn marks_inside_of_a_token_reveal_it() {
    let (any, hex) = (body("aB3dE6gH1jK4mN7pQ2", 40), body("0a1b2c3d4e5f6789", 32));
    for secret in [
        format!("110201{}:A{}", "543", &any[..34]),
        format!("abc8{}~{}", "Q", &any[..34]),
        format!("{}.{}.{}", &any[..14], "atlasv1", &any),
        format!("{hex}-{}", "us12"),
        format!("{}{}.{}.{}", "MT", "A4NzY1NDMyMTA5ODc2NTQz", "GabcDe", &any[..38]),
    ] {
        check(&[(&format!("use {secret} now"), "use # now"), (&format!("\"v\":\"{secret}\""), "\"v\":\"#\"")]);
    }
}

#[test]
fn what_is_around_a_value_tells_credentials() {
    check(&[
        ("tool --password Tr0ub4dor --user bob", "tool --password # --user bob"),
        ("tool --db-password 'two words1'", "tool --db-password '#'"),
        ("huggingface-cli login --token abc12345", "huggingface-cli login --token #"),
        ("sshpass -p Tr0ub4dor ssh u@h", "sshpass -p # ssh u@h"),
        ("docker login -u bob -p Tr0ub4dor r.io", "docker login -u bob -p # r.io"),
        ("mysql -u root -pTr0ub4dor db", "mysql -u root -p# db"),
        ("redis-cli -h r -a Tr0ub4dor", "redis-cli -h r -a #"),
        ("curl -u bob:Tr0ub4dor https://h", "curl -u bob:# https://h"),
        ("curl \\\n  --user 'bob:Tr0ub 4dor' https://h", "curl \\\n  --user 'bob:#' https://h"),
        ("{\"c\":\"curl --user \\\"bob:Tr0ub4dor\\\" h\"}", "{\"c\":\"curl --user \\\"bob:#\\\" h\"}"),
        ("<password>Tr0ub4dorXyz9</password>", "<password>#</password>"),
        ("<ns:apiKey>Tr0ub4dorXyz9</ns:apiKey>", "<ns:apiKey>#</ns:apiKey>"),
        ("<string name=\"api_key\">Tr0ub4dor</string>", "<string name=\"api_key\">#</string>"),
        ("<user name=\"bob\" password=\"Tr0ub4dor\"/>", "<user name=\"bob\" password=\"#\"/>"),
        ("<add key=\"DbPassword\" value=\"Tr0ub4dor\"/>", "<add key=\"DbPassword\" value=\"#\"/>"),
        ("- name: DB_PASSWORD\n  value: Tr0ub4dor\n", "- name: DB_PASSWORD\n  value: #\n"),
        ("{\"name\":\"API_TOKEN\",\"value\":\"Tr0ub4dor\"}", "{\"name\":\"API_TOKEN\",\"value\":\"#\"}"),
        ("Cookie: theme=dark; sessionid=9f8e7d6c5b4a; lang=en-US-12", "Cookie: theme=dark; sessionid=#; lang=en-US-12"),
        ("Set-Cookie: connect.sid=s%3A9f8e7d6c; Path=/; HttpOnly", "Set-Cookie: connect.sid=#; Path=/; HttpOnly"),
        ("machine h\n  login bob\n  password Tr0ub4dor\n", "machine h\n  login bob\n  password #\n"),
        ("Our algolia key: 9f8e7d6c5b4a39281706f5e4d3c2b1a0 is old", "Our algolia key: # is old"),
        ("{\"twitch\": \"a9b8c7d6e5f4g3h2i1j0\"}", "{\"twitch\": \"#\"}"),
        ("The admin password is \"Tr0ub4dor\" today", "The admin password is \"#\" today"),
        ("SNYK_TOKEN ?= \"9f8e7d6c5b4a\"", "SNYK_TOKEN ?= \"#\""),
        ("SNYK_TOKEN :::= \"9f8e7d6c5b4a\"", "SNYK_TOKEN :::= \"#\""),
        ("The algolia value is \"9f8e7d6c5b4a3928170\".", "The algolia value is \"#\"."),
        ("tool -Password Tr0ub4dor -token x1", "tool -Password # -token x1"),
        ("{\"c\":\"run\\n--password Tr0ub4dor x\"}", "{\"c\":\"run\\n--password # x\"}"),
        ("keytool -storepass Tr0ub4dor -list", "keytool -storepass # -list"),
        ("zip -P Tr0ub4dor a.zip; 7z x -pTr0ub4dor a", "zip -P # a.zip; 7z x -p# a"),
        ("smbclient -U bob%Tr0ub4dor //h/s", "smbclient -U bob%# //h/s"),
        ("curl -b \"theme=dark; session=9f8e7d6c\" h", "curl -b \"theme=dark; session=#\" h"),
        ("setx API_KEY Tr0ub4dor1", "setx API_KEY #"),
        ("FROM a\nENV API_KEY Tr0ub4dor1\n", "FROM a\nENV API_KEY #\n"),
        ("aws configure set aws_secret_access_key Tr0ub4dor1", "aws configure set aws_secret_access_key #"),
        ("headers.set(\"X-API-Key\", \"Tr0ub4dor1\")", "headers.set(\"X-API-Key\", \"#\")"),
        ("setHeader('Authorization', 'Bearer 9f8e7d6c5b4a3928')", "setHeader('Authorization', 'Bearer #')"),
        ("os.environ[\"API_KEY\"] = \"Tr0ub4dor1\"", "os.environ[\"API_KEY\"] = \"#\""),
        ("<entry key=\"api.secret\">Tr0ub4dor</entry>", "<entry key=\"api.secret\">#</entry>"),
        ("<Password><![CDATA[Tr0ub<dor]]></Password>", "<Password><![CDATA[#]]></Password>"),
        ("<key>APIKey</key>\n<string>Tr0ub4dor1</string>", "<key>APIKey</key>\n<string>#</string>"),
        ("<name>fs.secret.key</name><value>Tr0ub4dor</value>", "<name>fs.secret.key</name><value>#</value>"),
        (
            "{\"Name\":\"DB_PASSWORD\",\"Type\":\"SecureString\",\"Value\":\"Tr0ub4dor\"}",
            "{\"Name\":\"DB_PASSWORD\",\"Type\":\"SecureString\",\"Value\":\"#\"}",
        ),
        ("{\"Cookie\": \"theme=dark; JSESSIONID=9F8E7D6C\"}", "{\"Cookie\": \"theme=dark; JSESSIONID=#\"}"),
        ("Set-Cookie: id=9f8e7d6c5b; Secure", "Set-Cookie: id=#; Secure"),
        ("password: |\n  Tr0ub4dor\nnext: x", "password: |\n  #\nnext: x"),
        ("ALTER USER bob WITH PASSWORD 'Trouba dor';", "ALTER USER bob WITH PASSWORD '#';"),
        ("create user 'b'@'%' identified by 'Troubador'", "create user 'b'@'%' identified by '#'"),
        ("the wifi password \"Tr0ub4dor\" works", "the wifi password \"#\" works"),
        ("requirepass Tr0ub4dor\nbind_pw Tr0ub4dor\n", "requirepass #\nbind_pw #\n"),
        ("?X-Amz-Signature=9f8e7d6c5b4a39281706&x=1", "?X-Amz-Signature=#&x=1"),
        ("client_secret:\n  - Tr0ub4dor\n", "client_secret:\n  - #\n"),
        ("https://9f8e7d6c5b4a39281706f5e4@github.com/a", "https://#@github.com/a"),
        ("| Key | Value |\n|---|---|\n| password | `Tr0ub4dor` |", "| Key | Value |\n|---|---|\n| password | `#` |"),
        ("password\tTr0ub4dor\napi_key       Tr0ub4dor12\n", "password\t#\napi_key       #\n"),
    ]);
}

#[test]
fn tokens_go_over_line_breaks() {
    let npm = format!("{}{}", "npm_", body("aB3dE6gH1jK4mN7pQ2", 36));
    let (head, tail) = npm.split_at(22);
    let long = "a word and ".repeat(5);
    let line = "aB3dE6gH1jK4mN7pQ2".repeat(2);
    check(&[
        (&format!("{long}{head}\n{tail}\nnext"), &format!("{long}#\nnext")),
        (&format!("{long}{head}\r\n{tail} next"), &format!("{long}# next")),
        (&format!("{long}{head}=\n{tail}.\n"), &format!("{long}#.\n")),
        (&format!("{long}n\n{}", &npm[1..]), &format!("{long}#")),
        (&format!("{long}\u{1b}[1m{head}\n{tail}\u{1b}[0m"), &format!("{long}\u{1b}[1m#\u{1b}[0m")),
        (&format!("k: >-\n  {head}\n  {tail}\nx: y"), "k: >-\n  #\nx: y"),
        (&format!("{long} password={line}\n{line}\n"), &format!("{long} password=#\n")),
        // What follows is not of the token.
        (&format!("{long}{npm}\nNEXT_TOKEN_URL=x1"), &format!("{long}#\nNEXT_TOKEN_URL=x1")),
        (&format!("{long}{npm}\nThe next line"), &format!("{long}#\nThe next line")),
        (&format!("{long}{npm}\n2026-03-12 done"), &format!("{long}#\n2026-03-12 done")),
        (&format!("{long} token: {line}\nProxy-Token1: b1"), &format!("{long} token: #\nProxy-Token1: b1")),
        (&format!("{long} token: {line}\nHTTP/1.1 200 OK"), &format!("{long} token: #\nHTTP/1.1 200 OK")),
        (&format!("{long} password={line}\nLIMIT=1\n"), &format!("{long} password=#\nLIMIT=1\n")),
    ]);
    check_clean(&[&format!("{long}1234567_\nghp_and a word"), &format!("iVBORw0KGgo{line}\n{line}\n{line}=\n")]);
}

#[test]
fn secrets_of_kubernetes_are_masked() {
    check(&[
        (
            "kind: Secret\nmetadata:\n  name: db-1\ndata:\n  user: YWRtaW4xMjM=\nstringData:\n  a.conf: \"x y\\nz\"\ntype: Opaque\n",
            "kind: Secret\nmetadata:\n  name: db-1\ndata:\n  user: #\nstringData:\n  a.conf: \"#\"\ntype: Opaque\n",
        ),
        (
            "apiVersion: v1\ndata:\n  user: YWRtaW4xMjM=\nkind: Secret\n---\napiVersion: v1\ndata:\n  level: debug-12\nkind: ConfigMap\n",
            "apiVersion: v1\ndata:\n  user: #\nkind: Secret\n---\napiVersion: v1\ndata:\n  level: debug-12\nkind: ConfigMap\n",
        ),
        (
            "{\"apiVersion\":\"v1\",\"data\":{\"host\":\"ZXhhbXBsZS5jb20=\"},\"kind\":\"Secret\",\"type\":\"Opaque12\"}",
            "{\"apiVersion\":\"v1\",\"data\":{\"host\":\"#\"},\"kind\":\"Secret\",\"type\":\"Opaque12\"}",
        ),
        (
            "{\"m\":\"{\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{\\\"a\\\":\\\"ZXhhbXBsZQ==\\\"}}\"}",
            "{\"m\":\"{\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{\\\"a\\\":\\\"#\\\"}}\"}",
        ),
    ]);
    check_clean(&[
        "kind: SecretStore\ndata:\n  level: debug-12",
        "kind: Deployment\ndata:\n  level: debug-12\n---\nkind: Secret\n",
        "{\"kind\":\"video\",\"data\":{\"id\":\"abc123456789\"}} {\"kind\":\"Secret\"}",
    ]);
}

#[test]
fn columns_named_after_credentials_are_masked() {
    check(&[
        ("user,password,api_key\nbob,Tr0ub4dor,9f8e7d6c5b4a\n", "user,password,api_key\nbob,#,#\n"),
        ("user;password\r\nbob;\"Tr0;ub4dor\"\r\nann;hunter22", "user;password\r\nbob;\"#\"\r\nann;#"),
        ("log:\nid\tsecret\n1\t9f8e7d6c5b4a", "log:\nid\tsecret\n1\t#"),
        ("{\"t\":\"user,password\\nbob,Tr0ub4dor\\nann,hunter22\"}", "{\"t\":\"user,password\\nbob,#\\nann,#\"}"),
        (
            "[\"x:\\r\\nuser;password\\r\\nbob;\\\"Tr0;ub\\\"\\r\\n\"]",
            "[\"x:\\r\\nuser;password\\r\\nbob;\\\"#\\\"\\r\\n\"]",
        ),
        ("\\\"user,password\\\\nbob,Tr0ub4dor\\\"", "\\\"user,password\\\\nbob,#\\\""),
        ("| user | password |\n|---|---|\n| bob | Tr0ub4dor |", "| user | password |\n|---|---|\n| bob | # |"),
    ]);
    check_clean(&[
        "word,token,count\nrunning,running,12\n",
        "user,password\nbob,required\n\nbob,hunter22",
        "field,secret\na,b,hunter22x1",
        "red, green, token, blue\nThe sky, the sea, another1, all",
    ]);
}

#[test]
fn ordinary_options_and_names_are_kept() {
    check_clean(&[
        "use --password to set it and --token for others",
        "the password 'field' is required, a password \"policy\"\npassword reset2fa done\ntoken v2 is out",
        "--password PASSWORD  the password to use",
        "docker run -p 8080:8080 image -u 1000:1000",
        "curl -u username:password https://h",
        "curl -u \"$USER:$PASS\" https://h",
        "curl -u \"${{ secrets.USER }}:${{ secrets.PASS }}\" https://h",
        "curl https://h\nps -u bob:staff12",
        "<password>required</password> <token/> <secret></secret>",
        "name: DB_HOST\nvalue: db-12.example.com",
        "openai: gpt-4o-2024-08-13, anthropic: claude-sonnet-4-5-20250929",
        "docker: sha256:9f8e, heroku: eu, linear: 12345678901234",
        "PASSWORD=\nUSER_NAME=bob12345",
        "export API_KEY=your_api_key_here",
        "\"design_token\": \"spacing-large-35px\"",
        "sha512-3De16a3tk75rZBKdXGmOVN92uL4eyJ4i+16mTP6sfjFayEg02QXJ12ObV/6SHevKQY9iodfSnQYbZl1xmw46IA==",
        "\"input_token\": \"nextToken\", \"output_token\": \"NextToken\", version_token=version_token, id_token = data[\"x\"]",
        "if user_passwd:\n    return user_passwd\nfor token in tokens:\n    handle(token)",
        ":returns: the password.\n\n:rtype: string\ndef f(self, pwd=None): g(authkey=self._authkey)",
        "\"AWS::IAM::AccessKey\": \"72c2d9dd90025459\", PASSWD = \"%s:%s\", token = Token.LineNumber",
        "assertIn('Password:', stderr.getvalue()); self.key_password = key_password; f(secret_key, my_secret_key)",
        "f\"machine {h} login token password {auth_token}\" password: {auth_token}\\n",
        "token=ACCESS_TOKEN password: DB_PASSWORD http://h/video.ico-7a388b69018576d24b59331fd60aab0c.png",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx glpat-xxxxxxxx-xxxxxxxxxxxx",
        "pa-prod-eu-west-1-nodepool-6d4b75cb6d-abcde-x7k2p fw_3ds_challenge_result_code_20240101",
        "cache-key-9e107d9d372bb6826bd81d3542a419d6 ext_base64EncodedPayload.ofTheRequest.andItsSignature1.andMore.andMore",
        "s.acceptance_timeout s.AcceptanceTimeoutSeconds pat.test dapi dapple key-value",
        "the session is \"closed\" and the password is \"required\"",
    ]);
}

#[test]
fn what_has_the_looks_of_credentials_is_kept() {
    #[rustfmt::skip]
    check_clean(&[
            "id: 550e8400-e29b-41d4-a716-446655440000, trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7 traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432\nAuthor: Bob <bob@example.com>\n    merge 1a2b3c4..5d6e7f8",
            "\"integrity\": \"sha512-3De16a3tk75rZBKdXGmOVN92uL4eyJ4i+16mTP6sfjFayEg02QXJ12ObV/6SHevKQY9iodfSnQYbZl1xmw46IA==\", \"resolved\": \"https://registry.npmjs.org/a/-/a-1.2.3.tgz#9f8e7d6c5b4a39281706f5e4d3c2b1a098765432\"",
            "<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\">",
            "price: 1299.99 USD, total=48,200.50, sku: AB-1234567-XY, order 20260312-000123, ean 4006381333931",
            "serde v1.0.210, rustc 1.95.0 (59807616e 2026-04-14), go1.22.3, node v20.11.1, 1.2.3-rc.4+build.5678",
            "[[package]]\nname = \"serde\"\nversion = \"1.0.210\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"c8e3592472072e6e22e0a54d5904d9febf8508f65fb8552499a1abc7d1078c3a\"",
            "!function(e,t){\"object\"==typeof exports&&\"undefined\"!=typeof module?t(exports):\"function\"==typeof define&&define.amd?define([\"exports\"],t):t((e=e||self).token={})}(this,function(e){var r=e.key,n=t.secret||null;this.password=function(a){return a.token};s.auth=t1.e2.x3;});",
            "color: #ff8800; background: rgba(12,34,56,0.5); --token-color-1: #9f8e7d; .sk-circle{animation:sk-bounce 1.2s}",
            "pod/my-app-7d9f8b6c5d-x2k4p 1/1 Running; configmap/kube-root-ca.crt; secret/default-token-8fj2k; serviceaccount: my-service-account-prod",
            "NAME                  TYPE                                  DATA   AGE\ndefault-token-x7k2p   kubernetes.io/service-account-token   3      10d\ndb-password           Opaque                                1      2d",
            "arn:aws:iam::123456789012:role/service-role/my-role-1a2b3c4d, ami-0abcdef1234567890, i-0123456789abcdef0, vpc-0a1b2c3d4e5f67890, s3://my-bucket-1234567890/path/key_1.json",
            "doi:10.1038/s41586-020-2649-2 isbn 978-3-16-148410-0 https://youtu.be/dQw4w9WgXcQ?t=42 https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
            "kind: ConfigMap\napiVersion: v1\ndata:\n  level: debug-1234\n  url: http://example.com/a\n---\nkind: Deployment\nspec:\n  secretName: my-secret-name\n  data: abc123456",
            "{\"kind\":\"SecretList\",\"apiVersion\":\"v1\",\"items\":[]} {\"kind\":\"youtube#video\",\"data\":{\"id\":\"abc123456789\",\"title\":\"Hello World\"}}",
            "{\"data\":{\"name\":\"alpha-1234\",\"kind\":\"Secretary\",\"items\":[\"a1b2c3d4e5f6\"]}}",
            "The token is used to sign requests. The secret is out: \"we won\". The key is \"important\".",
            "user,score,count\nbob,12,hunter22",
            "{\"text\":\"name,token,count\\nrunning,running,12\\nwalk,walk2,3\\n\"}",
            "\"password\\n is required\\nfoo\"",
            "map.set(\"color\", \"a1b2c3d4\"); params.put(\"page\", \"12345678\"); header(\"Content-Type\", \"text/plain; v=12345678\"); set(\"token\", token1); define(\"API_VERSION\", \"v12345678\")",
            "<name>Token Ring</name><value>a1b2c3d4</value> <key>version</key> <string>1.2.345678</string> <string id=\"token\">Token 12345x wait</string>",
            "git commit -m \"fix token-refresh\" -a; tar -xzf a.tgz -C /tmp; grep -password-less x; java -Dtoken.ttl=3600 -jar a.jar; gcc -passthrough abc1234; ls -b ; zip -r out12345.zip dir; openssl x509 -in a.pem -noout; unzip -o file123.zip",
            "env FOO=bar token cmd1; use env variables secret123 no; configure set region us-east-1",
            "password: |\n  see the vault for the password\ntoken: >-\n  is described in section 4 below\nsecret:\n  - name: a",
            "theme=dark; Cookie: _ga=GA1.2.1234567890.1234567890; lang=en; theme=dark2dark; cookieconsent_status=dismiss",
            "- name: replicas\n  type: int\n  value: 12345678\n- name: image\n  value: nginx:1.25.3-alpine",
            "| Setting | Value |\n|---|---|\n| token_limit | 128000 |\n| password | required |\n| api key | see the docs |\n| secret name | my-secret-1 |",
            "token	count	share1\npassword	required\nsecret_name   my-app-1234",
            "https://user@example.com/a https://john.smith@h.com ssh://git@github.com:22/a https://o123.ingest.sentry.io/4 mailto:a1234567890123456789012@example.com",
            "Mcp-Session-Id: 9f8e7d6c-5b4a-4928-8706-f5e4d3c2b1a0; session_id=9f8e7d6c5b4a39281706f5e4d3c2b1a0, request-id: req_011CQ8xY7, \"sessionId\": \"abc123def456ghi789\"",
            "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL call_abc123DEF456ghi789JKL012 chatcmpl-9abcDEF123ghiJKL456mno resp_67ccd3a9da748190baa7f1570fe91ac604becb25c45c1d41",
            "cus_9s6XKzkNRiz8i3 pi_3MtwBwLkdIwHu7ix28a3tqPa price_1MoBy5LkdIwHu7ixZhnattbh prod_NWjs8kKbJWmuuc sub_1MowQVLkdIwHu7ixeRlqHVzs",
            "pk_test_TYooMQauvdEDq54NiTphI7jx is a publishable key",
            "ghcr.io/a/b@sha256:9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0",
            "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\nRTESMBAGA1UEChMJQmFsdGltb3JlMRMwEQYDVQQLEwpDeWJlclRydXN0MSIwIAYD\n-----END CERTIFICATE-----",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ1c3RlZF9rZXlfbm90X3JlYWxfc2VjcmV0 bob@host",
            "export PATH=/usr/local/bin:$PATH\nexport EDITOR=vim\nSECRET_NAME=my-app-secret\nTOKEN_URL=https://auth.example.com/oauth2/token\nPASSWORD_FILE=/run/secrets/db_password",
        ],
    );
}

#[test]
fn full_rules_mask_assigned_values() {
    check(&[
        ("{\"password\": \"hunter2hunter2\"}", "{\"password\": \"#\"}"),
        ("{\"password\":\"a\\\"b c\\\\\",\"u\":1}", "{\"password\":\"#\",\"u\":1}"),
        ("{\"j\":\"{\\\"password\\\": \\\"hunter 22\\\"}\"}", "{\"j\":\"{\\\"password\\\": \\\"#\\\"}\"}"),
        ("\\\\\\\"token\\\\\\\": \\\\\\\"abc def 1\\\\\\\"", "\\\\\\\"token\\\\\\\": \\\\\\\"#\\\\\\\""),
        ("PASSWORD = 'ab c def'", "PASSWORD = '#'"),
        ("password: \"abcd\"", "password: \"#\""),
        ("password=\"correct horse", "password=\"#"),
        ("password = b'hunter22'", "password = b'#'"),
        ("password: `hunter 22`", "password: `#`"),
        ("password => hunter22", "password => #"),
        ("password := \"hunter22\"", "password := \"#\""),
        ("if password == \"hunter22\":", "if password == \"#\":"),
        ("password=hunter22", "password=#"),
        ("password=12345678", "password=#"),
        ("{\"password\":12345678,\"user\":\"bob\"}", "{\"password\":#,\"user\":\"bob\"}"),
        ("password=abcdef;user=x", "password=#;user=x"),
        ("password=abc&def;x", "password=#"),
        ("GET /?token=abcdef1&page=2", "GET /?token=#&page=2"),
        (
            "DefaultEndpoints;AccountKey=ab/cd+ef==;EndpointSuffix=core",
            "DefaultEndpoints;AccountKey=#;EndpointSuffix=core",
        ),
        ("SharedAccessKey=abcdef12=", "SharedAccessKey=#"),
        ("?sv=1&sig=abcdefghij%2Bklmnop1&se=2", "?sv=1&sig=#&se=2"),
        ("api_key: abcdef", "api_key: #"),
        ("openaiApiKey: abcdef", "openaiApiKey: #"),
        ("API key: abcdef", "API key: #"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7", "AWS_SECRET_ACCESS_KEY=#"),
        ("MY_APP_SECRET_KEY=abcdefgh", "MY_APP_SECRET_KEY=#"),
        ("db_password: s3cr3t!\nuser: bob", "db_password: #\nuser: bob"),
        ("DB_PASSWORD_PROD=hunter22", "DB_PASSWORD_PROD=#"),
        ("password1=hunter22", "password1=#"),
        ("PGPASSWORD=hunter22", "PGPASSWORD=#"),
        ("MYSQL_PWD=hunter22", "MYSQL_PWD=#"),
        ("smtpPass: hunter22", "smtpPass: #"),
        ("clientSecret='abcdef'", "clientSecret='#'"),
        ("secret:\nnextline", "secret:\n#"),
        ("\"password\":\n  \"hunter22\",", "\"password\":\n  \"#\","),
        ("x-api-key: abcdef123", "x-api-key: #"),
        ("token: Bearer abcdef1234", "token: Bearer #"),
        ("Authorization: Token 0123456789abcdef01", "Authorization: Token #"),
        ("\"text\":\"a\\npassword=hunter22\\\"\"", "\"text\":\"a\\npassword=#\\\"\""),
        ("password=\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}1", "password=#"),
        ("password=ab[REDACTED-SECRET]cd", "password=#"),
        ("private_key: \"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"", "private_key: \"#\""),
    ]);
}

#[test]
fn full_rules_leave_lookalikes() {
    check_clean(&[
        "max_tokens: 100000",
        "tokenizer: heuristic",
        "token_count = 123456",
        "{\"total_tokens\": 123456, \"token\": 123456}",
        "secretary: Jane Doe-Smith",
        "password_policy: required",
        "password_min_length: 123456",
        "passwordless: enabled",
        "secrets:\n  - name: production",
        "token: true, token: null, token: 12.50000",
        "cost_per_token: 0.0000150",
        "nextPageToken: CAUQAA1234",
        "{\"continuation_token\": \"abcdefgh\"}",
        "eos_token: \"<|endoftext|>\"",
        "password=${DB_PASSWORD}",
        "password: $DB_PASSWORD",
        "token: \"<your token here>\"",
        "apiKey: process.env.API_KEY,",
        "api_key = os.environ[\"API_KEY\"]",
        "token = get_token(user)",
        "self.token = self.api_token",
        "password: \"********\"",
        "password = {{ vault_password }}",
        "password: required",
        "{\"password\": {\"type\": \"string\"}}",
        "password:\n  description: the password",
        "{\"password\":\n\"description\": \"x\"}",
        "PWD=/home/user/project",
        "compass: northwest",
        "first_pass: 12",
        "use std::token::TokenStream",
        "if token == other_token_name:",
        "the password is hunter2hunter2",
        "{\"label\":\"password:\",\"placeholder\":\"type here\"}",
        "basic authentication is required",
        "Basic understanding",
        "the bearer understands",
        "class=\"sk-loading-spinner-container\"",
        "https://host:8080/path@v1",
        "postgres://user:${DB_PASS}@host/db",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "expected a '-----BEGIN PRIVATE KEY-----' header",
        "at 10:30: done, see Note: everything = fine",
    ]);
}

#[test]
fn full_rules_cover_headers_urls_and_keys() {
    check(&[
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic #"),
        ("Bearer abcdefghij+klm/nop==", "Bearer #"),
        ("Authorization: Bearer abcdefghijkl.", "Authorization: Bearer #."),
        ("BEARER ABCDEFGHIJ", "BEARER #"),
        ("redis://:pw@host", "redis://:#@host"),
        ("mysql://u:p@ss@w0rd@host/db", "mysql://u:#@host/db"),
        ("{\"u\":\"a://u:p@h\",\"m\":\"b@c.d\"}", "{\"u\":\"a://u:#@h\",\"m\":\"b@c.d\"}"),
        ("\u{5bc6}AKIAABCDEFGHIJKLMNOP\u{662f}", "\u{5bc6}#\u{662f}"),
        ("\"a\\nAKIAABCDEFGHIJKLMNOP\"", "\"a\\n#\""),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQIB/+==\n", "#\n"),
        ("-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\nabcd==\\n not it", "#\\n not it"),
        ("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE\nThe end.", "#\nThe end."),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQ\n-----END PGP PRIVATE KEY BLOCK-----.", "#."),
        (
            "-----BEGIN PRIVATE KEY-----\nMIIE\ncut off here -----BEGIN EC PRIVATE KEY-----a-----END EC PRIVATE KEY-----",
            "#\ncut off here #",
        ),
    ]);
}

#[test]
fn what_is_hidden_parts_words() {
    let github = token("ghp_", 36);
    #[rustfmt::skip]
    let pieces = [
        "\u{1b}[32m", "\u{1b}[m", "\u{1b}[01;31m\u{1b}[K", "\u{9b}1m", "\u{1b}[?25h", "\u{1b}[0 q", "\u{1b}(B",
        "\u{1b}7", "\u{1b}M", "\u{1b}]0;title\u{7}", "\u{1b}]8;;https://h/x\u{1b}\\", "\u{1b}Pq\u{9c}", "\u{0}",
        "\u{8}", "\u{7f}", "\u{90}", "\u{2800}", "\u{3164}", "\u{61c}", "\u{1d173}", "\u{200b}", "\u{feff}", "\u{ad}", "\u{202e}", "\u{e0061}", "\\u001b[32m",
        "\\u001B[1m", "\\\\u001b[1;32m", "\\x1b[0m", "\\033[0m", "\\e[0m", "\\u{1b}[31m", "\\u0007", "\\u200b",
        "\\x07", "\\u000a", "\\u001b]8;;https://h/x\\u0007", "\\u001b]8;;h\\u001b\\\\", "[32m", "[0;1K",
    ];
    for hidden in pieces {
        check(&[
            (&format!("x{hidden}{github}{hidden} y"), &format!("x{hidden}#{hidden} y")),
            (&format!("{hidden}AKIAABCDEFGHIJKLMNOP{hidden}"), &format!("{hidden}#{hidden}")),
            (&format!("a {}{hidden}{} b", &github[..9], &github[9..]), "a # b"),
        ]);
        // The target of a link may hold a secret, so it is taken for the value.
        if hidden.contains(']') || hidden.ends_with('\u{9c}') {
            continue;
        }
        check(&[
            (&format!("password={hidden}hunter22{hidden} x"), &format!("password={hidden}#{hidden} x")),
            (&format!("password={hidden}\"hunter 22\"{hidden} x"), &format!("password={hidden}\"#\"{hidden} x")),
            (
                &format!("{hidden}\"{hidden}password{hidden}\"{hidden}: {hidden}\"ab {hidden}cd\"{hidden},"),
                &format!("{hidden}\"{hidden}password{hidden}\"{hidden}: {hidden}\"#\"{hidden},"),
            ),
            (&format!("pass{hidden}word: hun{hidden}ter22"), &format!("pass{hidden}word: #")),
        ]);
        check_clean(&[&format!(
            "{hidden}error{hidden}: the {hidden}token{hidden} has {hidden}expired{hidden}\n{hidden}done"
        )]);
    }
    // What the plain text seems to have is none in the text that is seen.
    check_clean(&["password: requi\u{200b}red"]);
}

#[test]
fn what_is_no_sequence_hides_nothing() {
    check(&[
        ("\u{1b}]0;password=hunter22\u{7}", "\u{1b}]0;password=#\u{7}"),
        ("\u{1b}]8;;https://u:hunter22@h\u{1b}\\text", "\u{1b}]8;;https://u:#@h\u{1b}\\text"),
        ("\u{1b}PASSWORD=hunter22", "\u{1b}PASSWORD=#"),
        ("\u{1b} password=hunter22", "\u{1b} password=#"),
        ("\u{1b}[ password=hunter22", "\u{1b}[ password=#"),
        ("C:\\users\\x1b\\password=hunter22", "C:\\users\\x1b\\password=#"),
    ]);
    let inside = format!("an[0x{} \u{1b}[0x", token("ghp_", 36));
    check_clean(&[&inside, "a[1] = m[0]; [10K] \u{2764}\u{fe0f} na\u{ad}ive"]);
    // A mask may have a colour of its own.
    let red = "\u{1b}[31m<hidden>\u{1b}[0m";
    assert_eq!(redact_secrets("\u{1b}[1mpassword=hunter22", red), format!("\u{1b}[1mpassword={red}"));
}

#[test]
fn masks_are_literal() {
    for mask in ["***", "$1", "\\1\\g<0>", ""] {
        let found = redact_secrets("password=hunter22 AKIAABCDEFGHIJKLMNOP", mask);
        assert_eq!(found, format!("password={mask} {mask}"));
    }
}

#[test]
fn values_are_masked_by_content_and_by_key() {
    let value = json!({
        "a": ["password=hunter22", {"b": "AKIAABCDEFGHIJKLMNOP"}],
        "password": "hunter 22", "api_keys": "x", "clientSecret": ["abcdefgh", 5],
        "token": 123_456, "pwd": 12_345_678, "properties": {"password": {"type": "string"}},
        "password=hunter22": "x", "n": 1, "z": null, "pass\u{200b}word\u{1b}[0m": "hunter 22",
    });
    let full = json!({
        "a": [format!("password={M}"), {"b": M}],
        "password": M, "api_keys": "x", "clientSecret": [M, 5],
        "token": 123_456, "pwd": M, "properties": {"password": {"type": "string"}},
        "password=hunter22": "x", "n": 1, "z": null, "pass\u{200b}word\u{1b}[0m": M,
    });
    assert_eq!(redact_value(&value, M), full);
    assert_eq!(redact_value(&full, M), full);
    let mut deep = json!("password=hunter22");
    for _ in 0..500 {
        deep = json!([deep]);
    }
    assert!(!redact_value(&deep, M).to_string().contains("hunter22"));
}

/// Repeats a piece up to a size.
fn fill(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len() + 1)
}

#[test]
fn every_input_takes_linear_time() {
    const SIZE: usize = 1 << 16;
    let secret_key = token("sk-", 24);
    let cookies = format!("cookie:{}", "a=".repeat(2_040));
    #[rustfmt::skip]
    let pieces = [
        "sk-", "AKIA", "a", "a.", "password", "password=", "password: ", "password : ", "eyJ.",
        "eyJ-", "eyJa.eyJb-", "eyJa.eyJb.", "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n", "-----END ", "-----BEGIN ", "-----",
        "-----BEGIN PRIVATE KEY-----Version:", "-----BEGIN PRIVATE KEY-----\nVersion: 1\n",
        "a://", "a://u:", "a://u:p@", "://", "bearer ", "bearer", "basic ", "Bearer abc ", "=",
        ":", "a:", "a=", "token=1:", "token=a(", "token=process.env.", "authorization=",
        "token=\"", "token=\\\"", "token='x\"", "pwd=\\\\\\\"pwd='pwd=`", "token=\"${", "xoxb-",
        "xoxb--", "ghp_", "SG.", "SG.aaaaaaaaaaaaaaaa-SG.", "github_pat_", "@", "a@", "a@b.",
        "a@b-", "1 ", "1-", "4111 ", "token:\n", "token:\na:", "pwd: ", "pwd=\t", "pwd=a;a;",
        "pwd=&a", "-", "_", ".", "<", "</", "\u{43f}", "\u{2003}", "password\u{2003}", "\\",
        "\\\\\"", "token=\\", "key ", "API key: ", "Basic dXNlcjpwYXNz", "[REDACTED-SECRET]",
        "password=[REDACTED-SECRET]", " = ", "token \n", "token=$", "token=<", "a@b.- ",
        secret_key.as_str(), "password=\"a b c\" ", "\u{1b}", "\u{1b}[", "\u{1b}[1;", "\u{1b}]", "\u{1b}]a\\", "[1", "[1m",
        "\u{1b}[0mpassword=\u{1b}[0m", "\u{1b}[1msk-", "\\u001b", "\\u001b[", "\\u001b]", "\\u{", "\u{200b}", "a\u{200b}:",
        "-u ", "curl -u ", "curl -u a:", "curl -u \"a:b ", "--password ", "--password", "mysql -p", "-pa ", "password ", "login a password ",
        "is \"", "password is \"", "<token>", "<token>a", "<token", "value:", "value: ", "name: token value: ", "Cookie:", "Cookie: a=", "sid=",
        "algolia: a1", "algolia: a1b2c3d4e5f6g7h8 ", "user,password\n", "a,b\n", "user,password\na1234567,", "|", "a|", "a,", ",", "\t",
        "hooks.slack.com/services/", "hooks.slack.com/services/a", "s.", "pat.", "st.", "sl.", "dp.pt.", "sk.eyJ", "12345678:A", "8Q~",
        "aB3dE6gH1jK4mN7pQ2sT5vW8xYz90aB3dE6gH1jK4mN7pQ2sT5vW8xYz90\n", "sk-aB3dE6gH1jK4mN7pQ2sT5vW8xYz90aB3dE6gH1jK4mN7pQ2sT5vW\n",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=\n", "\n  aB3dE6gH1jK4mN7pQ2sT5vW8xYz90", "a_1234567890123\n", "\n    a",
        "sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-sk-1\nword",
        "<token><![CDATA[", "<key>token</key>", "</key><string>", "kind: Secret\ndata:\n", "data:{", "kind", "kind: Secret\ndata:\n a: ",
        "apiVersion", "\"data\":{\"a\":\"", "\\n", "a,b\\n", "user,password\\n", "\\r\\n", "user,password\\na1234567,", "| token ", "|a|b", "\ntoken  ",
        "\ntoken\t", "set(\"token\",", "set(", "env token ", "env ", "token: |\n", "token: - ", "token\"]", "\"]", "a://a1b2c3d4@", "-token ", "\u{2800}", "\u{85}",
        "a: b, value:", "creds=a&b/", "pwd=/a&b/", "sig=a&b:", "name: a, value: ", "smbclient -U ", "curl -b ", "111.", "1-1:", "token 1:",
        "insert into a(password) values (", "insert into a(password) values ('a'),(", "('a12345'),", "copy a(password) from stdin\n", "secret=[\"", "secret=[\"a12345\",", "true\t", "a.b\tTRUE\t", "sqlplus ", "sqlplus -", "auth plain a",
        "aws4-hmac-sha256 ", "aws4-hmac-sha256 Signature=", "unseal key 1: a", "data:\\n", "data:\\n a: b\\n", "a:$6$", "a:*:", "h:5432:d:u:p", "password  a\n", "a  password  \n1  ", "a (", "a(,", "334 ugfzc3dvcmq6\n", "password: a a ", "secret: a ", "token: A<", "\\npass: ",
        "a.atlasv1.", "a-us1", "MTA", "MTA.", "xoxe.xoxp-", "glpat-.", "%", "%3D", "\\u0022", "\\x", "1//0", "EAAC+", "ext_.", "ZXlK+", "~",
        "aB3dE5fG7hJ9kL1mN3pQ5rS7+ZXlK", "aB3dE5fG7hJ9kL1mN3pQ5rS7/ABSK", cookies.as_str(),
    ];
    let mut worst = (0.0, String::new());
    for piece in pieces {
        let cost = |size| {
            let text = fill(piece, size);
            STEPS.with(|steps| steps.set(0));
            let _ = redact_secrets(&text, M);
            let _ = contains_secret(&text);
            STEPS.with(std::cell::Cell::get) as f64 / text.len() as f64
        };
        let (one, four) = (cost(SIZE), cost(4 * SIZE));
        assert!(four < 100.0, "{piece:?}: {four} steps per byte");
        assert!(four < one * 1.2 + 1.0, "{piece:?}: {one} grew to {four}");
        if four > worst.0 {
            worst = (four, format!("{piece:?}"));
        }
    }
    println!("worst {worst:?}");
}

#[test]
fn eight_mebibytes_of_near_misses_take_linear_time() {
    let near = "sk-x AKIAx eyJx. ghp_x password: ab xoxb-x a://u: -----BEGIN ";
    let cost = |size| {
        let text = fill(near, size);
        STEPS.with(|steps| steps.set(0));
        let clean = redact_secrets(&text, M);
        assert!(clean == text.as_str(), "these are no secrets");
        STEPS.with(std::cell::Cell::get) as f64 / text.len() as f64
    };
    let (one, eight) = (cost(1 << 20), cost(8 << 20));
    assert!(eight < one * 1.01 + 0.1 && eight < 20.0, "{one} steps per byte grew to {eight}");
}

/// Pieces that meet each other in as many ways as possible.
fn pieces() -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let fixed = prop::sample::select(vec![
        "password", "token", "apiKey", "api_key", "secret", "pwd", "authorization", "API key",
        "nextPageToken", "DB_PASS", "sig", "=", ":", " = ", ": ", "=>", ":=", "==", "::", "\"",
        "'", "`", "\\\"", "\\\\\\\"", "\\", "\\n", "\n", " ", "\t", "\u{2003}", "&", ";", ",",
        "user=", ";Database=", "{", "}", "[", "]", "(", ")", "<", ">", "</", "${", "$",
        "process.env.X", "***", "xxxxxx", "bearer ", "Basic ", "Bearer ", "dXNlcjpwYXNzd29yZA==",
        "AKIAABCDEFGHIJKLMNOP", "a://", "a://u:", "@", "@h", "/", ".", "-", "_",
        "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN ", "-----",
        "Version: 1", "MIIEvQ", "eyJ", "eyJa.eyJb.c", "sk-", "glpat-", "hf_", "AIza", "xoxb-",
        "SG.", "[REDACTED-SECRET]", "[REDACTED", "hunter22", "abc", "123456", "none", "required",
        "\u{43f}\u{430}", "\u{5bc6}", "\u{17f}", "|", "b'", "key", "b", "n", "token ", "digest ",
        "https://", "secrets.", "%", "!", "#", "\u{1b}[0m", "\u{1b}]8;;", "\u{1b}\\", "\u{7}", "\u{200b}", "\\u001b[1m",
        "\\u200b", "[0m", "\u{1b}", "--password ", "curl -u ", "mysql -p", "sshpass -p ", "is \"", "<token>", "value: ", "name: ",
        "Cookie: ", "sid=", "0123456789abcdefghij0123456789abcdefghij0123", "\nk7", "=\n", "ghp_0123456789abcdefghij", "kind: Secret", "data:", "\n  a: ", "\\n", "user,password\\n", "set(\"token\", ", "env ", "| token | ", "token  ", "</key><string>",
        "<key>", "]", "https://a1b2c3d4e5f6a7b8c9d0@", "value: ", "type: ", "|\n", "-Password ", "algolia", "user,password\n", "|", "\t", "login x password ", "hooks.slack.com/services/", "%3D",
        "12345678:A", "8Q~", ".atlasv1.", "-us1", "s.", "MTA", "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    ]);
    let run = "[a-zA-Z0-9_-]{1,40}";
    let piece = prop_oneof![6 => fixed.prop_map(str::to_owned), 1 => run.prop_map(|s| s), 1 => "\\PC{0,4}"];
    prop::collection::vec(piece, 0..14).prop_map(|parts| parts.concat())
}

/// A token of the form of a row, and its random parts.
fn token_of(rule: &TokenRule, seed: u64, extra: usize) -> (String, Vec<String>) {
    let alphabet: Vec<char> = (0..128_u8).filter(|&b| is(b, rule.class & ALNUM)).map(char::from).collect();
    let mut state = seed | 1;
    let mut random = |size: usize| -> String {
        // A digit and letters of both cases, as far as the row has them.
        let first = "7kQaAC".chars().filter(|c| alphabet.contains(c)).collect::<Vec<_>>();
        let next = |at: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            first.get(at).copied().unwrap_or(alphabet[(state >> 33) as usize % alphabet.len()])
        };
        (0..size).map(next).collect()
    };
    let least = usize::from(rule.least);
    let size = (least + extra).min(usize::from(rule.most));
    let open = rule.prefix.contains('?');
    let wild = rule.wild.chars().nth(extra % rule.wild.len().max(1)).unwrap_or('?');
    let prefix = rule.prefix.replace('?', &wild.to_string());
    match rule.shape {
        TokenShape::Pair => {
            let parts = vec![random(size), random(size)];
            (format!("{prefix}{}.{}", parts[0], parts[1]), parts)
        }
        TokenShape::Jwt => {
            let parts = vec![random(20 + extra), random(30), random(43)];
            (format!("{prefix}{}.eyJ{}.{}", parts[0], parts[1], parts[2]), parts)
        }
        TokenShape::Triple => {
            let parts = vec![random(size), random(6), random(30)];
            (format!("{prefix}{}.{}.{}", parts[0], parts[1], parts[2]), parts)
        }
        TokenShape::Around if open => {
            let parts = vec![random(least)];
            (format!("{}-{prefix}", parts[0]), parts)
        }
        TokenShape::Around => {
            let parts = vec![random(least), random(60)];
            (format!("{}.{prefix}{}", parts[0], parts[1]), parts)
        }
        TokenShape::Url => {
            let parts = vec![random(size)];
            (format!("https://{prefix}{}", parts[0]), parts)
        }
        _ if open || rule.wild.is_empty() => {
            let parts = vec![random(if rule.shape == TokenShape::Exact { least } else { size })];
            (format!("{prefix}{}", parts[0]), parts)
        }
        _ => {
            let parts = vec![random(size / 2), random(size - size / 2 - rule.wild.len())];
            (format!("{prefix}{}{}{}", parts[0], rule.wild, parts[1]), parts)
        }
    }
}

/// Reports whether eight characters of a part, or all of a shorter one of six or more, are left.
fn leaks(masked: &str, parts: &[String]) -> bool {
    parts.iter().filter(|part| part.len() >= 6).any(|part| {
        let size = part.len().min(8);
        (0..=part.len() - size).any(|at| masked.contains(&part[at..at + size]))
    })
}

proptest! {
    #![proptest_config(property(8_000))]

    #[test]
    fn every_row_is_masked_in_every_place(
        row in 0..RULES.len(), seed in any::<u64>(), extra in 0..12_usize,
        place in prop::sample::select(vec![
            "S", "see S here", "It is S.", "(S)", "[S]", "<S>", "{\"v\": \"S\"}", "{\"v\":\"a\\nS\\n\"}", "{\\\"v\\\":\\\"S\\\"}",
            "{\\\\\\\"v\\\\\\\":\\\\\\\"S\\\\\\\"}", "export X=S", "X='S'", "x: S\n", "- S\n", "x = S # y", "<v>S</v>", "<v a=\"S\"/>", "| a | S |", "a,S,b",
            "a;S;b", "a\tS\tb", "curl -H \"X: S\" h", "https://h/p?x=S&y=1", "x=%22S%22", "\\u0022S\\u0022", "\u{1b}[32mS\u{1b}[0m", "\\u001b[32mS\\u001b[0m x",
            "info\u{1b}[0mS\u{1b}[1mx", "\u{200b}S\u{2800}", "`S`", "\u{5bc6}S\u{3002}", "--x S", "--x=S", "[S] done", "a=1; b=S; c=2", "S\r\nx", "f('S')", "{'a': 'S'}", "x:S",
            "2026-03-12T10:00:00Z INFO key=S took 3ms", "Authorization: Bearer S", "https://S@h/x", "*S*", "**S**", "\"S\",", "a/S", "@S", "#S", "x>S",
        ]),
    ) {
        let rule = &RULES[row];
        let (secret, parts) = token_of(rule, seed, extra);
        let text = place.replace('S', &secret);
        let masked = redact_secrets(&text, M).into_owned();
        prop_assert!(!leaks(&masked, &parts), "{} in {place:?}: {text:?} became {masked:?}", rule.prefix);
        prop_assert_eq!(redact_secrets(&masked, M), masked.as_str());
    }

    #[test]
    fn every_row_is_masked_over_line_breaks(
        row in 0..RULES.len(), seed in any::<u64>(), extra in 0..12_usize, cut in any::<prop::sample::Index>(),
        wrap in prop::sample::select(vec![
            ("bob@host:~/projects/alpha$ ", 80, "\n", ""), ("2026-03-12T10:00:00Z INFO the key of the service is ", 100, "\r\n", " which is long"),
            ("Content-Transfer-Encoding: quoted-printable\n\nYour key is ", 75, "=\n", ".\n"), ("key: ", 76, "=\r\n", ""),
        ]),
        hidden in prop::sample::select(vec!["", "\u{1b}[0m", "\u{200b}"]),
    ) {
        let rule = &RULES[row];
        let (secret, parts) = token_of(rule, seed, extra);
        let (head, width, end, tail) = wrap;
        let cut = 1 + cut.index(secret.len() - 1);
        let binds = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        // Next to other signs, nothing tells that the line was broken.
        prop_assume!(secret[..cut].ends_with(binds) && secret[cut..].starts_with(binds));
        // The name of a cookie is not masked, so what is masked has to go over the line break; and it is the word before
        // the break that tells a token.
        prop_assume!(rule.shape != TokenShape::Value || cut > rule.prefix.len());
        prop_assume!(rule.shape != TokenShape::Around || secret.find(&rule.prefix[..2]).is_some_and(|at| at < cut));
        // A few small letters may be the next word.
        prop_assume!(secret.len() < cut + 8 || super::wraps::is_rest(&secret[cut..]));
        let line = head.rsplit('\n').next().unwrap();
        let fill = "x ".repeat(width).chars().take(width.saturating_sub(line.len() + cut)).collect::<String>();
        let text = format!("{head}{fill} {}{end}{}{hidden}{tail}", &secret[..cut], &secret[cut..]);
        let masked = redact_secrets(&text, M).into_owned();
        let joined = masked.replace("=\r\n", "").replace("=\n", "").replace(['\r', '\n'], "");
        prop_assert!(!leaks(&joined, &parts), "{} cut at {cut}: {text:?} became {masked:?}", rule.prefix);
        prop_assert_eq!(redact_secrets(&masked, M), masked.as_str());
    }
}

proptest! {
    #![proptest_config(property(2_000))]

    #[test]
    fn masking_twice_changes_nothing(text in pieces()) {
        let once = redact_secrets(&text, M).into_owned();
        let twice = redact_secrets(&once, M);
        prop_assert_eq!(&once, &twice);
        prop_assert!(!contains_secret(&once), "{:?} still has a secret", once);
    }

    #[test]
    fn detection_and_masking_agree(text in pieces()) {
        let masked = redact_secrets(&text, M);
        prop_assert_eq!(contains_secret(&text), masked != text.as_str());
    }

    #[test]
    fn only_whole_spans_are_replaced(text in pieces()) {
        let masked = redact_secrets(&text, "\u{0}");
        let mut left = text.as_str();
        for kept in masked.split('\u{0}') {
            let at = left.find(kept);
            prop_assert!(at.is_some(), "{kept:?} is not part of {text:?}");
            left = &left[at.unwrap() + kept.len()..];
        }
    }

    #[test]
    fn no_context_leaks_a_secret(
        secret in "[a-zA-Z0-9+/!?#*~^$%@_.-]{6,30}[a-z]7",
        key in prop::sample::select(vec!["password", "DB_PASSWORD", "apiKey", "api-key", "x.secret", "auth_token", "SECRET_KEY", "passwd2", "clientSecretProd"]),
        form in prop::sample::select(vec![
            "K=S", "K: S", "K = S", "K='S'", "K=\"S\"", "\"K\":\"S\"", "\"K\": \"S\"", "'K': 'S',", "\\\"K\\\":\\\"S\\\"", "\\\\\\\"K\\\\\\\": \\\\\\\"S\\\\\\\"",
            "--K=S", "K=>'S'", "K := \"S\"", "`K`: `S`", "K:\nS", "K=\"a S b\"", "?a=1&K=S&b=2", "a=1;K=S;b=2", "K=b'S'", "K: Bearer S",
        ]),
        head in "(x |\n|\\{|\u{43f}|,|a=b |)", tail in "( y|\n|,| \\}|)",
    ) {
        let text = format!("{head}{}{tail}", form.replace('S', "\u{1}").replace('K', key).replace('\u{1}', &secret));
        let masked = redact_secrets(&text, M);
        // A value may well look like a placeholder or like code; those are left on purpose.
        let exempt = super::keys::is_placeholder(&secret) || super::keys::is_code(&secret) || secret.starts_with("$(");
        // A placeholder with a remainder after the trimmed punctuation counts as well.
        if !exempt {
            prop_assert!(!masked.contains(&secret), "{text:?} became {masked:?}");
        }
        let value = json!({key: secret.clone(), "list": [text.clone()]});
        let masked = redact_value(&value, M).to_string();
        prop_assert!(exempt || !masked.contains(&secret), "{masked}");
    }

    #[test]
    fn a_json_document_stays_valid(user in "[a-z]{1,8}", secret in "[a-zA-Z0-9 \"\\\\/{}:,=&;]{8,24}a1") {
        let inner = json!({"user": user, "password": secret, "n": 1}).to_string();
        let outer = json!({"body": inner.clone(), "api_key": secret}).to_string();
        for document in [inner, outer] {
            let masked = redact_secrets(&document, M);
            let parsed: Result<Value, _> = serde_json::from_str(&masked);
            prop_assert!(parsed.is_ok(), "{masked}");
            prop_assert!(!masked.contains(&secret));
        }
    }
}
