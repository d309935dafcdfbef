//! Where the adb server is, as the environment says it. It does not connect.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use crate::error::Error;

const DEFAULT_PORT: u16 = 5037;
const SOCKET: &str = "ADB_SERVER_SOCKET";
const ADDRESS: &str = "ANDROID_ADB_SERVER_ADDRESS";
const PORT: &str = "ANDROID_ADB_SERVER_PORT";

/// Where an adb server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerAddress {
    /// A TCP port.
    Tcp {
        /// A name or an IP address, without brackets.
        host: String,
        /// The port.
        port: u16,
    },
    /// A Unix socket at a path.
    LocalFilesystem(PathBuf),
    /// A name in Linux's abstract socket namespace.
    LocalAbstract(String),
}

impl Default for ServerAddress {
    /// `127.0.0.1:5037`.
    fn default() -> Self {
        Self::tcp("127.0.0.1", DEFAULT_PORT)
    }
}

impl ServerAddress {
    /// A TCP port of a host.
    pub fn tcp(host: impl Into<String>, port: u16) -> Self {
        Self::Tcp { host: host.into(), port }
    }

    /// The address that the variables give: `ADB_SERVER_SOCKET`, else `ANDROID_ADB_SERVER_ADDRESS` and
    /// `ANDROID_ADB_SERVER_PORT`, else `127.0.0.1:5037`. An empty variable is as good as none.
    ///
    /// ```
    /// use jumpseat_adb::ServerAddress;
    ///
    /// let lookup = |name: &str| (name == "ADB_SERVER_SOCKET").then(|| "tcp:[::1]:5038".into());
    /// let address = ServerAddress::from_variables(lookup)?;
    /// assert_eq!(address, ServerAddress::tcp("::1", 5038));
    /// # Ok::<(), jumpseat_adb::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidAddress`] names the variable that cannot be understood.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, Error> {
        let text = |name: &'static str| match lookup(name).filter(|value| !value.is_empty()) {
            None => Ok(None),
            Some(value) => value.into_string().map(Some).map_err(|value| Error::InvalidAddress {
                variable: name,
                value: value.to_string_lossy().into_owned(),
                reason: "it is not UTF-8",
            }),
        };
        if let Some(value) = text(SOCKET)? {
            return socket(&value).map_err(|reason| Error::InvalidAddress {
                variable: SOCKET,
                value,
                reason,
            });
        }
        let host = text(ADDRESS)?.unwrap_or_else(|| "127.0.0.1".to_owned());
        let port = match text(PORT)? {
            None => DEFAULT_PORT,
            Some(value) => {
                port(&value).map_err(|reason| Error::InvalidAddress { variable: PORT, value, reason })?
            }
        };
        Ok(Self::tcp(without_brackets(&host), port))
    }

    /// Whether it is on this machine, as far as the address tells. Elsewhere, a forward's port is not here
    /// either.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp { host, .. } => {
                host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
            Self::LocalFilesystem(_) | Self::LocalAbstract(_) => true,
        }
    }

    /// How an `adb` program that starts a server has to be told this address, if it can be.
    ///
    /// NOTE: adb starts a server for `localhost`, which it binds on IPv4, and for no other name or address.
    pub(crate) fn to_start_at(&self) -> Option<String> {
        match self {
            Self::Tcp { host, port } if host == "localhost" || host == "127.0.0.1" => {
                Some(format!("tcp:localhost:{port}"))
            }
            Self::Tcp { .. } => None,
            local => Some(local.to_string()),
        }
    }
}

impl fmt::Display for ServerAddress {
    /// `HOST:PORT`, or a socket in adb's notation.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::LocalFilesystem(path) => write!(f, "localfilesystem:{}", path.display()),
            Self::LocalAbstract(name) => write!(f, "localabstract:{name}"),
        }
    }
}

/// Reads `ADB_SERVER_SOCKET`.
fn socket(text: &str) -> Result<ServerAddress, &'static str> {
    match text.split_once(':') {
        Some(("tcp", rest)) => tcp(rest),
        // `local:` is the file system, on a workstation.
        Some(("localfilesystem" | "local", path)) if !path.is_empty() => {
            Ok(ServerAddress::LocalFilesystem(path.into()))
        }
        Some(("localabstract", name)) if !name.is_empty() => {
            Ok(ServerAddress::LocalAbstract(name.to_owned()))
        }
        Some(("localfilesystem" | "local" | "localabstract", _)) => Err("there is nothing after the colon"),
        Some(("vsock", _)) => Err("vsock is not supported"),
        _ => Err("it begins with none of tcp:, localfilesystem: and localabstract:"),
    }
}

/// Reads `PORT`, `HOST:PORT` or `[IPV6]:PORT`.
fn tcp(text: &str) -> Result<ServerAddress, &'static str> {
    let Some((host, number)) = text.rsplit_once(':') else {
        return Ok(ServerAddress::tcp("127.0.0.1", port(text)?));
    };
    let host = match host.strip_prefix('[') {
        Some(_) => without_brackets(host),
        None if host.contains(':') => return Err("write an IPv6 address in brackets: tcp:[::1]:5037"),
        None if host.is_empty() => return Err("the host is missing"),
        None => host,
    };
    Ok(ServerAddress::tcp(host, port(number)?))
}

fn port(text: &str) -> Result<u16, &'static str> {
    match text.parse() {
        Ok(0) | Err(_) => Err("the port is a number from 1 to 65535"),
        Ok(port) => Ok(port),
    }
}

fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<ServerAddress, Error> {
        ServerAddress::from_variables(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn without_variables_it_is_adbs_own_port() {
        assert_eq!(read(&[]).unwrap().to_string(), "127.0.0.1:5037");
        assert_eq!(read(&[(SOCKET, ""), (PORT, "")]).unwrap().to_string(), "127.0.0.1:5037");
    }

    #[test]
    fn a_socket_comes_before_address_and_port() {
        let address = read(&[(SOCKET, "tcp:5038"), (ADDRESS, "10.0.0.1"), (PORT, "5039")]).unwrap();
        assert_eq!(address, ServerAddress::tcp("127.0.0.1", 5038));
        assert_eq!(read(&[(ADDRESS, "10.0.0.1")]).unwrap(), ServerAddress::tcp("10.0.0.1", 5037));
        assert_eq!(read(&[(PORT, "5039")]).unwrap(), ServerAddress::tcp("127.0.0.1", 5039));
        assert_eq!(read(&[(ADDRESS, "::1"), (PORT, "5039")]).unwrap(), ServerAddress::tcp("::1", 5039));
        assert_eq!(read(&[(ADDRESS, "[::1]")]).unwrap().to_string(), "[::1]:5037");
    }

    #[test]
    fn sockets_of_every_kind() {
        for (text, address) in [
            ("tcp:5038", ServerAddress::tcp("127.0.0.1", 5038)),
            ("tcp:localhost:5038", ServerAddress::tcp("localhost", 5038)),
            ("tcp:build.example:5038", ServerAddress::tcp("build.example", 5038)),
            ("tcp:[fe80::1]:5038", ServerAddress::tcp("fe80::1", 5038)),
            ("localfilesystem:/run/adb", ServerAddress::LocalFilesystem("/run/adb".into())),
            ("local:/run/adb", ServerAddress::LocalFilesystem("/run/adb".into())),
            ("localabstract:adb", ServerAddress::LocalAbstract("adb".into())),
        ] {
            assert_eq!(read(&[(SOCKET, text)]).unwrap(), address);
        }
    }

    #[test]
    fn a_wrong_variable_is_named() {
        for (variable, value, reason) in [
            (SOCKET, "5037", "begins with none"),
            (SOCKET, "tcp:", "1 to 65535"),
            (SOCKET, "tcp:host", "1 to 65535"),
            (SOCKET, "tcp::5037", "host is missing"),
            (SOCKET, "tcp:::1:5037", "brackets"),
            (SOCKET, "localabstract:", "nothing after"),
            (SOCKET, "vsock:2:5037", "not supported"),
            (PORT, "0", "1 to 65535"),
            (PORT, "70000", "1 to 65535"),
        ] {
            let error = read(&[(variable, value)]).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(variable) && message.contains(reason), "{message}");
            assert!(error.hint().contains("unset it"));
        }
    }

    #[test]
    fn only_this_machines_addresses_are_local() {
        for (address, local) in [
            (ServerAddress::tcp("localhost", 1), true),
            (ServerAddress::tcp("127.0.0.2", 1), true),
            (ServerAddress::tcp("::1", 1), true),
            (ServerAddress::LocalAbstract("adb".into()), true),
            (ServerAddress::tcp("10.0.0.1", 1), false),
            (ServerAddress::tcp("build.example", 1), false),
        ] {
            assert_eq!(address.is_local(), local, "{address}");
        }
    }
}
