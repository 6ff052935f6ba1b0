//! `cargo xtask serve`: the page on localhost.

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{build, www};
use crate::dirs::Dirs;
use crate::failure::{Failure, Outcome};
use crate::run::say;

const DEFAULT_PORT: u16 = 8787;
/// A request line and headers longer than this are not from a browser.
const MAX_HEAD: u64 = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

/// The page may run its own scripts, compile WebAssembly and talk to nobody else.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' data: blob:; media-src blob:; connect-src 'self'; worker-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Runs the command.
pub fn main(args: &[String]) -> Outcome<ExitCode> {
    let options = Options::parse(args)?;
    let dirs = Dirs::find()?;
    let package = if options.build { build::build(&dirs)?.dir } else { dirs.root.join("pkg") };
    let site = Arc::new(Site { pages: www::bundle(&dirs, &package)? });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(|error| {
        Failure::new(format!("cannot listen on port {}: {error}", options.port)).hint("choose another one with --port")
    })?;
    let port = listener.local_addr().map_or(options.port, |address| address.port());
    say(&format!("serving http://localhost:{port}/ (stop with Ctrl-C)"));
    for stream in listener.incoming().flatten() {
        let site = Arc::clone(&site);
        thread::spawn(move || {
            // A browser that hangs up is no concern of the server.
            let _ = site.answer(&stream);
        });
    }
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
}

struct Answer {
    status: &'static str,
    mime: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn refuse(status: &'static str) -> Self {
        Self { status, mime: "text/plain; charset=utf-8", body: format!("{status}\n").into_bytes() }
    }
}

impl Site {
    fn answer(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut lines = BufReader::new(stream.take(MAX_HEAD)).lines();
        let request = lines.next().transpose()?.unwrap_or_default();
        // The headers say nothing this server needs, but must be read before the connection is closed.
        for line in lines {
            if line?.is_empty() {
                break;
            }
        }
        let (answer, with_body) = self.respond(&request);
        let mut stream = stream;
        write!(
            stream,
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nContent-Security-Policy: {POLICY}\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n",
            answer.status,
            answer.mime,
            answer.body.len()
        )?;
        if with_body {
            stream.write_all(&answer.body)?;
        }
        stream.flush()
    }

    /// The answer to a request line, and whether its body is wanted.
    fn respond(&self, request: &str) -> (Answer, bool) {
        let mut words = request.split(' ');
        let with_body = match words.next() {
            Some("GET") => true,
            Some("HEAD") => false,
            _ => return (Answer::refuse("405 Method Not Allowed"), true),
        };
        let answer = match words.next().and_then(|target| self.file(target)) {
            Some(file) => match fs::read(&file) {
                Ok(body) => Answer { status: "200 OK", mime: mime(&file), body },
                Err(_) => Answer::refuse("404 Not Found"),
            },
            None => Answer::refuse("404 Not Found"),
        };
        (answer, with_body)
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
    use std::path::Path;

    /// A site, and the folder around it, which goes when dropped.
    fn site() -> (Site, tempfile::TempDir) {
        let root = tempfile::tempdir().unwrap();
        let pages = root.path().join("site");
        fs::create_dir_all(pages.join("samples")).unwrap();
        fs::write(root.path().join("secret.txt"), "secret").unwrap();
        fs::write(pages.join("index.html"), "page").unwrap();
        fs::write(pages.join(".hidden"), "hidden").unwrap();
        fs::write(pages.join("samples/a b.json"), "{}").unwrap();
        fs::write(pages.join("core_bg.wasm"), "wasm").unwrap();
        (Site { pages }, root)
    }

    #[test]
    fn serves_files() {
        let (site, _root) = site();
        for (request, mime, body) in [
            ("GET / HTTP/1.1", "text/html; charset=utf-8", "page"),
            ("GET /?a=1 HTTP/1.1", "text/html; charset=utf-8", "page"),
            ("GET /samples/a%20b.json HTTP/1.1", "application/json; charset=utf-8", "{}"),
            ("GET /core_bg.wasm HTTP/1.1", "application/wasm", "wasm"),
        ] {
            let (answer, with_body) = site.respond(request);
            assert_eq!(
                (answer.status, answer.mime, answer.body.as_slice(), with_body),
                ("200 OK", mime, body.as_bytes(), true),
                "{request}"
            );
        }
        assert!(!site.respond("HEAD / HTTP/1.1").1);
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
            let (answer, _) = site.respond(&format!("GET {target} HTTP/1.1"));
            assert_eq!(answer.status, "404 Not Found", "{target}");
        }
        for request in ["POST / HTTP/1.1", "", "get / HTTP/1.1"] {
            assert_eq!(site.respond(request).0.status, "405 Method Not Allowed");
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
