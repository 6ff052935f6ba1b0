//! Forms in which credentials stand in everyday files and outputs, and what only looks like them. All are made up.

use super::*;

const PASSWORD: &str = "Tr0ub4dorXyz9";
const KEY: &str = "9f8e7d6c5b4a39281706f5e4d3c2b1a0";

/// `$P` and `$K` stand for a password and a key, which have to go; everything else has to stay.
#[rustfmt::skip]
const MASKED: &[&str] = &[
    // Columns, whatever stands beside them.
    "id,date,password\n1,2026,$P\n", "id,Date (YYYY-MM-DD),password\n1,2,$P\n", "id,n/a,password\n1,2,$P\n", "id,amount$,password\n1,2,$P\n",
    "id,,password\n1,2,$P\n", "id,2024,password\n1,2,$P\n", "id,Preis (\u{20ac}),password\n1,2,$P\n", "id,\"Name, first\",password\n1,\"a, b\",$P\n",
    "id,hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh,password\n1,2,$P\n", "c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,d0,d1,d2,d3,d4,d5,d6,d7,d8,d9,e0,e1,e2,e3,e4,e5,e6,e7,e8,e9,f0,f1,f2,f3,password\n0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,$P\n",
    "user\tapi_key\tnote (old)\nbob\t$K\tx\n", "Name;Password;E-Mail (privat)\nBob;$P;b@h\n",
    " id | name | password\n----+------+---------------\n  1 | bob  | $P\n(1 row)\n", "+----+---------------+\n| id | password      |\n+----+---------------+\n|  1 | $P |\n",
    "-[ RECORD 1 ]-----\nid       | 1\npassword | $P\nname     | bob\n", "*** 1. row ***\n      id: 1\npassword: $P\n",
    "id  name  password\n--  ----  -------------\n1   bob   $P\n2   ann   $P\n", "USER    TOKEN                             AGE\nbob     $K  3d\n",
    "| user | Password (temporary) | x |\n|---|---|---|\n| bob | $P | y |\n", "{\"t\":\"id,Date (UTC),password\\n1,2,$P\\n\"}",
    // Statements of databases.
    "INSERT INTO users (id, name, password) VALUES (1, 'bob', '$P'), (2, 'it''s', '$P');", "insert into `users` (`id`,`password`) values (1,\"$P\")",
    "INSERT INTO public.users\n  (name, api_key)\nVALUES\n  ('bob', '$K');", "{\"sql\":\"INSERT INTO u (name, password)\\nVALUES ('bob', '$P')\"}",
    "COPY public.users (id, name, password) FROM stdin;\n1\tbob\t$P\n2\tann\t$P\n\\.\n", "UPDATE users SET password = '$P' WHERE id = 1;",
    // Configuration.
    "define('DB_PASSWORD', '$P');", "define( 'DB_PASSWORD', '$P' );", "SECRET_KEY_BASE=$K", "secret_key_base: $K", "    client-key-data: LS0tLS1CRUdJTiBQ$K==\n",
    "network={\n  ssid=\"home\"\n  psk=\"$P\"\n}", "wpa_psk=$P", "[Peer]\nPresharedKey = $K=\n", "jdbc:oracle:thin:bob/$P@//h:1521/x", "url=jdbc:oracle:thin:bob/$P@h:1521:x",
    "sqlplus -S bob/$P@orcl", "db.example.com:5432:shop:bob:$P\n", "*:*:*:bob:$P\n", "localhost:5432:*:bob:$P",
    "bob:$apr1$a1b2c3d4$$K\n", "bob:$2y$10$$K\n", "bob:{SHA}$K=\n", "root:$6$a1b2c3d4$$K:19000:0:99999:7:::\n",
    "# Netscape HTTP Cookie File\n.example.com\tTRUE\t/\tTRUE\t1767225600\tsessionid\t$K\n", "#HttpOnly_example.com\tFALSE\t/\tTRUE\t1767225600\tauth_token\t$K\n",
    "<wsse:Password Type=\"http://x/y#PasswordText\">$P</wsse:Password>", "<password encrypted=\"false\">$P</password>",
    "<password><![CDATA[a]b$P]]></password>", "<w:token>$K</w:token>", "<td id=\"password\">$P</td>", "localhost\tFALSE\t/\tFALSE\t1700000000\tsessionid\t$K",
    "curl -ubob:$P https://h", "curl --user=bob:$P https://h", "curl -s -u bob:$P https://h", "sqlplus -s scott/$P", "sqlplus 'scott/$P'",
    "CREATE USER 'u'@'h' IDENTIFIED WITH mysql_native_password BY '$P';", "SET PASSWORD FOR u = PASSWORD('$P');",
    "machine h\nlogin u\npassword $P\n", "errors.put(\"password\", \"$P\")",
    // Protocols.
    "Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=$K$K\n",
    "C: AUTH PLAIN AGJvYgBUcjB1YjRkb3JYeXo5\n", "a1 AUTHENTICATE PLAIN AGJvYgBUcjB1YjRkb3JYeXo5\n", "S: 334 UGFzc3dvcmQ6\nC: VHIwdWI0ZG9yWHl6OQ==\n",
    "Unseal Key 1: $K+/=\nUnseal Key 2: $K+/=\nInitial Root Token: s.$K", "Recovery Key 1: $K", "\"unseal_keys_b64\": [\"$K\", \"$K=\"],", "\"unseal_keys_hex\": [\n  \"$K\"\n]",
    "\"passwd\": [\"$P\", \"$P\"]",
    // In strings of JSON, behind a break of lines.
    "\"a\\npass: $P\"", "\"a\\nansible_ssh_pass: $P\"", "\"a\\nDB_PASS: $P\\n\"", "\"a\\tpw: $P\"", "\"x\\r\\npass=$P\"", "\"?a=1\\u0026pw=$P\"", "{\\\"m\\\":\\\"a\\\\npass: $P\\\"}",
    "{\"m\":\"kind: Secret\\ndata:\\n  user: $P\\ntype: Opaque\"}", "postgres://app:$P@db:5432/x", "secret: $K and more", "password: hunter is my dog2",
];

#[rustfmt::skip]
const KEPT: &[&str] = &[
    "The secret: practice every day", "Our secret: patience, time and luck.", "the best password: none at all, they say", "The token: what it is and how it works",
    "type User { password: String! }", "input Login {\n  password: String!\n  token: AccessToken\n}", "apiKey: ApiKey", "apiKey: ApiKey,", "userPassword: Password;",
    "progressToken: ContextKey<string | number>", "readonly token: Promise<string>;", "password: String? = null", "secret: SecretStr", "token: Option<String>,", "password: CharField(max_length=128)",
    "password: Boolean[]", "nextPageToken: $K", "\"progressToken\": \"a1b2c3d4e5f6g7h8\"", "resume_token=a1b2c3d4e5f6g7h8", "startingToken: a1b2c3d4e5f6g7h8",
    "red, green, token, blue\nThe sky, the sea, another1, all", "Enter your name, the password, and your email\nThen wait.", "id,password_policy,name\n1,required12,bob\n",
    "NAME                  TYPE                DATA   AGE\ndefault-token-x7k2p   service-account-1   3      10d\n", "NAME   SECRETS   AGE\nbob    1         3d12345678901\n",
    "INSERT INTO users (id, name) VALUES (1, '$P');", "INSERT INTO notes (id, text) VALUES (1, 'the password is required')", "insert into the box (see page 3) values that matter",
    "COPY users (id, name) FROM stdin;\n1\tbob1234567\n", "copy the files (all) to the host", "define('API_VERSION', 'v12345678');", "define('DB_HOST', 'db-1.example.com')",
    "src/main.rs:1234:12:error:unexpected1", "12:30:45:user:finished1", "host:8080:a:b", "2026-03-12T10:00:00Z:a:b:c1234567", "std::fs::read:5432:x",
    "250-AUTH PLAIN LOGIN CRAM-MD5", "AUTH PLAIN is simple", "334 UGFzc3dvcmQ6", "Unseal Key Shares: 5", "Unseal Progress 2/3", "TRUE\tFALSE\t1\n", "a.b\tTRUE\t/\tTRUE\t1\tlang\ten-US-12345\n",
    "psktool: 12345678", "price: $1$ and $2$", "echo \"a:$6 b\"", "map: {SHA}", "AWS4-HMAC-SHA256 is the scheme", "the client-key-data field",
    "jdbc:oracle:thin:@//h:1521/x", "docs/secret/practice", "\"required\": [\"password\", \"token\"]", "\"password\": [\"This field is required.\"]", "| password | required |\n", "name | password\nof the | table",
    "Users login with password authentication", "Fix the login form password validation", "The login page password strength, again",
    "<h2 id=\"password\">Passwords</h2>", "<h3 id=\"access-token\">AccessTokens</h3>", "<a name=\"authentication-token\">Overview</a>", "<td id=\"pass\">Passed</td>",
    "errors.put(\"password\", \"must be at least 8 characters\")", "labels.set(\"password\", \"Enter your password\")", "<label for=\"password\">Password1</label>",
    "if a < b && token > c1234567 </x", "p = getPassword(\"prompt\")", "sqlplus / as sysdba", "sqlplus @scripts/run1.sql", "curl --user-agent=a:b1234567 h",
    "\\newpass: done", "C:\\temp\\pass: no1", "password | see below", "Token  Meaning\n--  --\n", "use (password, token) = f(x)\nlet a = (b1234567, c)",
];

fn filled(text: &str) -> String {
    text.replace("$P", PASSWORD).replace("$K", KEY)
}

#[test]
fn everyday_forms_are_masked() {
    let mut wrong = Vec::new();
    for text in MASKED {
        let masked = redact_secrets(&filled(text), SECRET_MASK).into_owned();
        let again = redact_secrets(&masked, SECRET_MASK);
        let other = redact_secrets(&filled(text), "***").into_owned();
        let leaks = |text: &str| [PASSWORD, &KEY[..16], "AGJvYg", "VHIwdW"].iter().any(|secret| text.contains(secret));
        if leaks(&masked) || leaks(&other) || again != masked || !contains_secret(&filled(text)) {
            wrong.push(format!("{} became {masked} or {other}", filled(text)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), MASKED.len(), wrong.join("\n---\n"));
}

#[test]
fn everyday_texts_are_kept() {
    let mut wrong = Vec::new();
    for text in KEPT {
        let text = filled(text);
        let masked = redact_secrets(&text, SECRET_MASK);
        if masked != text {
            wrong.push(format!("{text} became {masked}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), KEPT.len(), wrong.join("\n---\n"));
}

#[test]
fn what_is_found_ahead_leaves_the_rest() {
    for (text, wanted) in [
        (
            "INSERT INTO u (a, password) VALUES ('token=abc12345', 'hunter22'), ('b', 'hunter33') password=hunter44",
            "INSERT INTO u (a, password) VALUES ('token=#', '#'), ('b', '#') password=#",
        ),
        (
            "\"secret\": [\"hunter2222222a\", \"b c\"], \"token\": \"abcdef12\"",
            "\"secret\": [\"#\", \"b c\"], \"token\": \"#\"",
        ),
        (
            "Authorization: AWS4-HMAC-SHA256 Credential=AKIAABCDEFGHIJKLMNOP/x, Signature=9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c\nnext: 1",
            "Authorization: AWS4-HMAC-SHA256 Credential=#/x, Signature=#\nnext: 1",
        ),
    ] {
        for mask in [SECRET_MASK, "***"] {
            assert_eq!(redact_secrets(text, mask), wanted.replace('#', mask));
        }
    }
}
