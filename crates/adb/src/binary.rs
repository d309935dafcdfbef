//! The `adb` program: where it is, its version, and starting a server with it.
//!
//! Nothing else is ever asked of it: a program of another version than the running server's kills that
//! server.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::error::Error;

/// How long the output of a program that has ended is waited for.
const OUTPUT: Duration = Duration::from_millis(200);
/// The time that `adb version` may take.
const VERSION: Duration = Duration::from_secs(5);

/// An `adb` program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdbBinary {
    path: PathBuf,
}

/// What an `adb` program says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryVersion {
    /// The version of the protocol. A program kills a running server of another one.
    pub protocol: u32,
    /// The release of platform-tools, such as `29.0.6-debian`.
    pub release: Option<String>,
}

impl AdbBinary {
    /// The program at that path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The program that the variables lead to: `ADB`, else the first that exists of
    /// `$ANDROID_HOME/platform-tools/adb`, `$ANDROID_SDK_ROOT/platform-tools/adb` and `adb` in `PATH`.
    ///
    /// # Errors
    ///
    /// [`Error::AdbNotFound`].
    pub fn find(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, Error> {
        let looked = candidates(lookup);
        match looked.iter().find(|path| path.is_file()) {
            Some(path) => Ok(Self::new(path)),
            None => Err(Error::AdbNotFound { looked }),
        }
    }

    /// The program that this process's environment leads to: see [`find`](Self::find).
    ///
    /// # Errors
    ///
    /// [`Error::AdbNotFound`].
    pub fn from_env() -> Result<Self, Error> {
        Self::find(|name| std::env::var_os(name))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its version. This does not touch the adb server.
    ///
    /// # Errors
    ///
    /// [`Error::AdbFailed`] and [`Error::Timeout`].
    pub async fn version(&self) -> Result<BinaryVersion, Error> {
        let output = self.run(&["version"], VERSION).await?;
        version(&output)
            .ok_or_else(|| self.failed(&["version"], format!("it says {:?}, and no version", output.trim())))
    }

    /// Starts a server at the socket, which is in adb's notation.
    pub(crate) async fn start_server(&self, socket: &str, deadline: Duration) -> Result<(), Error> {
        self.run(&["-L", socket, "start-server"], deadline).await.map(drop)
    }

    /// Runs it, and gives what it printed.
    async fn run(&self, arguments: &[&str], deadline: Duration) -> Result<String, Error> {
        let ended = timeout(deadline, self.output(arguments)).await;
        let (status, output) = ended
            .map_err(|_| Error::Timeout {
                waiting_for: format!("`{}`", self.command(arguments)),
                after: deadline,
            })?
            .map_err(|error| self.failed(arguments, error.to_string()))?;
        if status.success() {
            return Ok(output);
        }
        let output = output.trim();
        Err(self.failed(arguments, if output.is_empty() { status.to_string() } else { output.to_owned() }))
    }

    async fn output(&self, arguments: &[&str]) -> std::io::Result<(ExitStatus, String)> {
        let mut child = Command::new(&self.path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut pipes = (child.stdout.take(), child.stderr.take());
        let status = child.wait().await?;
        // NOTE: not to the end of the pipes. The server that it leaves behind may hold them.
        let mut output = Vec::new();
        if let Some(stdout) = &mut pipes.0 {
            let _ = timeout(OUTPUT, stdout.read_to_end(&mut output)).await;
        }
        if let Some(stderr) = &mut pipes.1 {
            let _ = timeout(OUTPUT, stderr.read_to_end(&mut output)).await;
        }
        Ok((status, String::from_utf8_lossy(&output).into_owned()))
    }

    fn command(&self, arguments: &[&str]) -> String {
        format!("{} {}", self.path.display(), arguments.join(" "))
    }

    fn failed(&self, arguments: &[&str], reason: String) -> Error {
        Error::AdbFailed { command: self.command(arguments), reason }
    }
}

/// The paths to look at, in order.
fn candidates(lookup: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
    let in_path = |program: &OsStr| -> Vec<PathBuf> {
        let path = lookup("PATH").unwrap_or_default();
        std::env::split_paths(&path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(program))
            .collect()
    };
    if let Some(program) = lookup("ADB") {
        let is_bare = Path::new(&program).components().count() == 1;
        return if is_bare { in_path(&program) } else { vec![program.into()] };
    }
    let program = OsString::from(format!("adb{}", std::env::consts::EXE_SUFFIX));
    ["ANDROID_HOME", "ANDROID_SDK_ROOT"]
        .into_iter()
        .filter_map(lookup)
        .map(|sdk| Path::new(&sdk).join("platform-tools").join(&program))
        .chain(in_path(&program))
        .collect()
}

/// Reads `Android Debug Bridge version 1.0.41` and `Version 29.0.6-debian`.
fn version(output: &str) -> Option<BinaryVersion> {
    let after = |start: &str| output.lines().find_map(|line| line.trim_end().strip_prefix(start));
    let protocol = after("Android Debug Bridge version ")?.rsplit('.').next()?.parse().ok()?;
    Some(BinaryVersion { protocol, release: after("Version ").map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(variables: &[(&str, &str)]) -> Vec<String> {
        candidates(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    }

    #[cfg(unix)]
    #[test]
    fn the_sdk_comes_before_the_path() {
        let variables =
            [("ANDROID_SDK_ROOT", "/root"), ("ANDROID_HOME", "/home"), ("PATH", "/bin::/usr/bin:relative")];
        let expected = ["/home/platform-tools/adb", "/root/platform-tools/adb", "/bin/adb", "/usr/bin/adb"];
        assert_eq!(paths(&variables), expected);
        assert!(paths(&[("ANDROID_HOME", "")]).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn who_names_a_program_gets_no_other() {
        assert_eq!(paths(&[("ADB", "/opt/adb"), ("PATH", "/bin")]), ["/opt/adb"]);
        assert_eq!(
            paths(&[("ADB", "adb-next"), ("PATH", "/bin:/usr/bin")]),
            ["/bin/adb-next", "/usr/bin/adb-next"]
        );
    }

    #[test]
    fn a_program_says_its_version() {
        let output =
            "Android Debug Bridge version 1.0.41\nVersion 29.0.6-debian\nInstalled as /usr/bin/adb\n";
        let expected = BinaryVersion { protocol: 41, release: Some("29.0.6-debian".into()) };
        assert_eq!(version(output), Some(expected));
        assert_eq!(
            version("Android Debug Bridge version 1.0.36\n").map(|version| version.protocol),
            Some(36)
        );
        assert_eq!(version("hello"), None);
    }
}
