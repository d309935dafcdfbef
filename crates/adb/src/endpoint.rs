//! What a forward or a device stream ends at, in adb's own notation. It does not say on which machine.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The bytes that a name in Linux's abstract socket namespace may have.
const MAX_ABSTRACT_NAME: usize = 107;

/// One end of a forward or of a device stream.
///
/// ```
/// use jumpseat_adb::Endpoint;
///
/// assert_eq!("tcp:8080".parse::<Endpoint>()?, Endpoint::Tcp(8080));
/// assert_eq!(Endpoint::LocalAbstract("app".into()).to_string(), "localabstract:app");
/// # Ok::<(), jumpseat_adb::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endpoint {
    /// A TCP port of the loopback interface. As the local end of a forward, 0 is any free port.
    Tcp(u16),
    /// A name in the abstract socket namespace (Linux and Android).
    LocalAbstract(String),
    /// One of adb's other kinds, as adb writes it (`jdwp:4711`, `localfilesystem:/…`): other tools' forwards
    /// have them. It does not come out of [`FromStr`].
    Other(String),
}

impl Endpoint {
    /// Reads what the adb server lists.
    pub(crate) fn listed(text: &str) -> Self {
        text.parse().unwrap_or_else(|_| Self::Other(text.to_owned()))
    }

    /// Whether adb can take it in a request.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let invalid = |reason| Err(Error::InvalidEndpoint { endpoint: self.to_string(), reason });
        match self {
            Self::LocalAbstract(name) if name.is_empty() => invalid("the name is empty"),
            Self::LocalAbstract(name) if name.len() > MAX_ABSTRACT_NAME => {
                invalid("the name has more than 107 bytes")
            }
            // adb parts the ends of a forward by a semicolon, and the forwards in its list by line ends.
            Self::LocalAbstract(name) | Self::Other(name) if name.contains([';', '\n', '\0']) => {
                invalid("adb cannot take a semicolon, a line end or a NUL in it")
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Tcp(port) => write!(f, "tcp:{port}"),
            Self::LocalAbstract(name) => write!(f, "localabstract:{name}"),
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl FromStr for Endpoint {
    type Err = Error;

    /// Reads `tcp:PORT` and `localabstract:NAME`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidEndpoint`] for anything else.
    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = |reason| Error::InvalidEndpoint { endpoint: text.to_owned(), reason };
        if let Some(port) = text.strip_prefix("tcp:") {
            return port.parse().map(Self::Tcp).map_err(|_| invalid("the port is a number from 0 to 65535"));
        }
        let Some(name) = text.strip_prefix("localabstract:") else {
            return Err(invalid("it is neither tcp:PORT nor localabstract:NAME"));
        };
        let endpoint = Self::LocalAbstract(name.to_owned());
        endpoint.check()?;
        Ok(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["tcp:0", "tcp:65535", "localabstract:jumpseat/com.example", "localabstract:a b"] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_wrong_endpoint_says_why() {
        let long = format!("localabstract:{}", "x".repeat(108));
        for (text, reason) in [
            ("8080", "neither tcp:PORT nor"),
            ("tcp:65536", "from 0 to 65535"),
            ("tcp:localhost:80", "from 0 to 65535"),
            ("localabstract:", "empty"),
            ("localabstract:a;b", "semicolon"),
            (&long, "107 bytes"),
        ] {
            let error = text.parse::<Endpoint>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(format!("localabstract:{}", "x".repeat(107)).parse::<Endpoint>().is_ok());
    }

    #[test]
    fn what_other_tools_forward_is_kept_as_it_stands() {
        assert_eq!(Endpoint::listed("jdwp:4711"), Endpoint::Other("jdwp:4711".into()));
        assert_eq!(Endpoint::listed("tcp:localhost:80"), Endpoint::Other("tcp:localhost:80".into()));
        assert_eq!(Endpoint::listed("tcp:80"), Endpoint::Tcp(80));
    }
}
