//! Whom the server talks to: `Host` must be a loopback name, and so must an `Origin`. This is what keeps a web
//! page in the workstation's browser from calling tools through the forwarded port (DNS rebinding, CSRF).

use hyper::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Request, Uri};

/// Names that are allowed besides the loopback ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// Hosts without a port, in lower case.
    pub(crate) hosts: Vec<String>,
    /// Whole origins, such as `https://inspector.example.com`.
    pub(crate) origins: Vec<String>,
}

/// Refuses a request whose `Host` or `Origin` is neither a loopback one nor allowed, with the reason.
pub(crate) fn check<B>(request: &Request<B>, allowed: &Allowed) -> Result<(), String> {
    let host = single(request.headers(), &HOST)?.ok_or("The request has no Host header")?;
    let target = request.uri().authority().map(hyper::http::uri::Authority::as_str);
    for host in target.into_iter().chain([host]) {
        if !is_allowed_host(host, allowed) {
            return Err(format!(
                "The Host {host:?} is refused: use localhost, 127.0.0.1 or [::1], or have the app allow it"
            ));
        }
    }
    match single(request.headers(), &ORIGIN)? {
        Some(origin) if !is_allowed_origin(origin, allowed) => Err(format!(
            "The Origin {origin:?} is refused: only pages from localhost, 127.0.0.1 or [::1] may connect, and those that the app allows"
        )),
        _ => Ok(()),
    }
}

/// The one value of a header. Two are one too many for something that decides.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            value.to_str().map(Some).map_err(|_| format!("The header {name} is not visible ASCII"))
        }
        (Some(_), Some(_)) => Err(format!("The header {name} is given twice")),
    }
}

fn is_allowed_host(host: &str, allowed: &Allowed) -> bool {
    let Some(name) = without_port(host) else { return false };
    is_loopback(name) || allowed.hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
}

fn is_allowed_origin(origin: &str, allowed: &Allowed) -> bool {
    let loopback = || {
        let uri = origin.parse::<Uri>().ok()?;
        let name = without_port(uri.authority()?.as_str())?;
        Some(matches!(uri.scheme_str(), Some("http" | "https")) && is_loopback(name))
    };
    allowed.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin)) || loopback() == Some(true)
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "[::1]")
}

/// The host of `host[:port]`; `None` when what stands behind the colon is no port.
fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.rfind(':') {
        Some(colon) if !host.ends_with(']') => (&host[..colon], &host[colon + 1..]),
        _ => (host, ""),
    };
    (port.bytes().all(|b| b.is_ascii_digit()) && port.len() <= 5).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(host: &[&str], origin: Option<&str>) -> bool {
        let mut request = Request::builder().uri("/mcp");
        for host in host {
            request = request.header("host", *host);
        }
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let allowed = Allowed {
            hosts: vec!["phone.example.com".into()],
            origins: vec!["https://inspector.example.com".into()],
        };
        check(&request.body(()).unwrap(), &allowed).is_ok()
    }

    #[test]
    fn loopback_names_with_any_port_are_served() {
        for host in
            ["localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]", "[::1]:65535", "phone.example.com:80"]
        {
            assert!(checked(&[host], None), "{host}");
        }
        for origin in [
            "http://localhost",
            "https://127.0.0.1:6274",
            "http://[::1]:3000",
            "https://inspector.example.com",
        ] {
            assert!(checked(&["localhost"], Some(origin)), "{origin}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for host in [
            "",
            "evil.example.com",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "127.0.0.2",
            "localhost:x",
            "a@localhost",
            "0.0.0.0",
        ] {
            assert!(!checked(&[host], None), "{host}");
        }
        assert!(!checked(&[], None));
        assert!(!checked(&["localhost", "localhost"], None));
        for origin in [
            "null",
            "",
            "http://evil.example.com",
            "http://localhost.evil.com",
            "file://localhost",
            "http://localhost@evil.com",
            "http://evil.com#localhost",
        ] {
            assert!(!checked(&["localhost"], Some(origin)), "{origin}");
        }
    }
}
