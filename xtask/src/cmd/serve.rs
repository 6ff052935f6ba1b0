//! `cargo xtask serve`: the page on localhost.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use tiny_http::{Header, Method, Request, Response, Server};

use super::build;
use crate::dirs::Dirs;
use crate::failure::{Context, Failure, Outcome};
use crate::page;
use crate::run::say;

const DEFAULT_PORT: u16 = 8787;
/// Requests that are answered at a time; a browser opens six connections.
const THREADS: usize = 4;

/// Where the page has its policy: it may run its own scripts and style, compile WebAssembly, and talk to nobody else.
const POLICY_MARK: &str = "http-equiv=\"Content-Security-Policy\"";

/// Returns the policy that the page has for hosts that send none, and with it who may frame it, which only a header can say.
fn policy(page: &str) -> Option<String> {
    let (_, after) = page.split_once(POLICY_MARK)?;
    let (_, content) = after.split_once("content=\"")?;
    let (policy, _) = content.split_once('"')?;
    Some(format!("{policy}; frame-ancestors 'none'"))
}

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let options = Options::parse(args)?;
    let dirs = Dirs::find()?;
    if options.build {
        build::build(&dirs)?;
    }
    let site = Site::open(page::bundle(&dirs)?)?;
    let server = Server::http((Ipv4Addr::LOCALHOST, options.port)).map_err(|error| {
        Failure::new(format!("cannot listen on port {}: {error}", options.port)).hint("choose another one with --port")
    })?;
    let port = server.server_addr().to_ip().map_or(options.port, |address| address.port());
    say(&format!("serving http://localhost:{port}/ (stop with Ctrl-C)"));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for request in server.incoming_requests() {
                    // A browser that hangs up is no concern of the server.
                    let _ = site.answer(request);
                }
            });
        }
    });
    Ok(ExitCode::SUCCESS)
}

struct Options {
    port: u16,
    build: bool,
}

impl Options {
    fn parse(args: &[String]) -> Outcome<Self> {
        let usage = |problem: String| Failure::new(problem).hint("usage: cargo xtask serve [--port N] [--no-build]");
        let mut options = Self { port: DEFAULT_PORT, build: true };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--no-build" => options.build = false,
                "--port" => {
                    options.port = args
                        .next()
                        .and_then(|port| port.parse().ok())
                        .ok_or_else(|| usage("--port needs a number up to 65535".to_owned()))?;
                }
                other => return Err(usage(format!("unknown argument '{other}'"))),
            }
        }
        Ok(options)
    }
}

/// The folder that is served.
struct Site {
    pages: PathBuf,
    policy: String,
}

struct Answer {
    status: u16,
    mime: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn refuse(status: u16, reason: &str) -> Self {
        Self { status, mime: "text/plain; charset=utf-8", body: format!("{status} {reason}\n").into_bytes() }
    }
}

impl Site {
    fn open(pages: PathBuf) -> Outcome<Self> {
        let file = pages.join("index.html");
        let page = fs::read_to_string(&file).context(|| format!("cannot read {}", file.display()))?;
        let policy = policy(&page).ok_or_else(|| Failure::new(format!("{} has no policy", file.display())))?;
        Ok(Self { pages, policy })
    }

    fn answer(&self, request: Request) -> std::io::Result<()> {
        let answer = self.respond(request.method(), request.url());
        let headers = [
            ("Content-Type", answer.mime),
            ("Content-Security-Policy", self.policy.as_str()),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-cache"),
        ];
        let mut response = Response::from_data(answer.body).with_status_code(answer.status);
        for (name, value) in headers {
            // Only a header that is not ASCII is refused.
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        request.respond(response)
    }

    /// The answer to a request; the library leaves out the body that HEAD does not want.
    fn respond(&self, method: &Method, target: &str) -> Answer {
        if !matches!(method, Method::Get | Method::Head) {
            return Answer::refuse(405, "Method Not Allowed");
        }
        match self.file(target).and_then(|file| Some((fs::read(&file).ok()?, mime(&file)))) {
            Some((body, mime)) => Answer { status: 200, mime, body },
            None => Answer::refuse(404, "Not Found"),
        }
    }

    /// The file a request target names, if it lies inside the folder it belongs to.
    fn file(&self, target: &str) -> Option<PathBuf> {
        let path = target.split(['?', '#']).next()?;
        let path = percent_decoded(path.strip_prefix('/')?)?;
        let mut file = self.pages.clone();
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            // Covers "..", hidden files, separators and streams of other systems.
            if segment.starts_with('.') || segment.contains(['\\', ':', '\0']) {
                return None;
            }
            file.push(segment);
        }
        if path.is_empty() || path.ends_with('/') {
            file.push("index.html");
        }
        // A symbolic link may still lead outside.
        let file = file.canonicalize().ok()?;
        file.starts_with(self.pages.canonicalize().ok()?).then_some(file)
    }
}

/// Decodes %xx; nothing when that is malformed or not UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

fn mime(file: &Path) -> &'static str {
    let extension = file.extension().and_then(|extension| extension.to_str());
    match extension.unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json; charset=utf-8",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" | "md" | "jsonl" | "ts" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{Site, mime, percent_decoded};
    use std::fs;
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpStream};
    use std::path::Path;
    use tiny_http::{Method, Server};

    const PAGE: &str = "<meta\n http-equiv=\"Content-Security-Policy\"\n content=\"default-src 'none'\" />page";

    #[test]
    fn a_page_without_a_policy_is_not_served() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("index.html"), "page").unwrap();
        assert!(Site::open(root.path().to_owned()).is_err());
    }

    /// A site, and the folder around it, which goes when dropped.
    fn site() -> (Site, tempfile::TempDir) {
        let root = tempfile::tempdir().unwrap();
        let pages = root.path().join("site");
        fs::create_dir_all(pages.join("samples")).unwrap();
        fs::write(root.path().join("secret.txt"), "secret").unwrap();
        fs::write(pages.join("index.html"), PAGE).unwrap();
        fs::write(pages.join(".hidden"), "hidden").unwrap();
        fs::write(pages.join("samples/a b.json"), "{}").unwrap();
        fs::write(pages.join("core_bg.wasm"), "wasm").unwrap();
        (Site::open(pages).unwrap(), root)
    }

    #[test]
    fn serves_files() {
        let (site, _root) = site();
        for (target, mime, body) in [
            ("/", "text/html; charset=utf-8", PAGE),
            ("/?a=1", "text/html; charset=utf-8", PAGE),
            ("/samples/a%20b.json", "application/json; charset=utf-8", "{}"),
            ("/core_bg.wasm", "application/wasm", "wasm"),
        ] {
            let answer = site.respond(&Method::Get, target);
            assert_eq!((answer.status, answer.mime, answer.body.as_slice()), (200, mime, body.as_bytes()), "{target}");
        }
    }

    #[test]
    fn answers_over_http_with_its_policy() {
        let (site, _root) = site();
        let server = Server::http((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = server.server_addr().to_ip().unwrap();
        let ask = |head: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "{head}\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
            site.answer(server.recv().unwrap()).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        let got = ask("GET / HTTP/1.1");
        assert!(got.starts_with("HTTP/1.1 200 OK\r\n") && got.ends_with(&format!("\r\n\r\n{PAGE}")), "{got}");
        assert!(got.contains("\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"), "{got}");
        assert!(ask("HEAD / HTTP/1.1").ends_with("\r\n\r\n"));
        assert!(ask("GET /../secret.txt HTTP/1.1").starts_with("HTTP/1.1 404 "));
    }

    #[test]
    fn refuses_whatever_leads_outside() {
        let (site, _root) = site();
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret.txt", site.pages.join("link.txt")).ok();
        for target in [
            "/../secret.txt",
            "/%2e%2e/secret.txt",
            "/..%2fsecret.txt",
            "/samples/../../secret.txt",
            "/samples%2f..%2f..%2fsecret.txt",
            "//etc/passwd",
            "/.hidden",
            "/..\\secret.txt",
            "/%00",
            "/%zz",
            "/%",
            "/link.txt",
            "/samples",
            "/absent.js",
            "secret.txt",
            "http://localhost/secret.txt",
        ] {
            assert_eq!(site.respond(&Method::Get, target).status, 404, "{target}");
        }
        for method in [Method::Post, Method::Options, Method::NonStandard("get".parse().unwrap())] {
            assert_eq!(site.respond(&method, "/").status, 405, "{method}");
        }
    }

    #[test]
    fn decodes_percent_signs_strictly() {
        assert_eq!(percent_decoded("a%20%C3%A9").as_deref(), Some("a é"));
        for wrong in ["%", "%2", "%+1", "%ff"] {
            assert_eq!(percent_decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn unknown_types_are_bytes() {
        assert_eq!(mime(Path::new("x.unknown")), "application/octet-stream");
        assert_eq!(mime(Path::new("x")), "application/octet-stream");
    }
}
