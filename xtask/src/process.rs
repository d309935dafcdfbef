//! Running other programs, with a deadline where one may hang. It does not know what they are for.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::Outcome;

/// What a program left behind.
pub(crate) struct Finished {
    pub(crate) success: bool,
    /// Both streams, in the order of arrival within each of them.
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The folder that builds and tools go to: `CARGO_TARGET_DIR`, else `target` in the repository.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// `cargo` in the repository, the one that started this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Whether the program is there and answers these arguments with success.
pub(crate) fn answers(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs the command with the terminal's own streams; an unsuccessful end is an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let name = describe(command);
    let status = command.status().map_err(|error| format!("cannot start {name}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed ({status})")) }
}

/// Runs the command in silence; when it fails, the error has what it printed, without addresses of other hosts.
pub(crate) fn run_quietly(command: &mut Command, deadline: Duration) -> Outcome {
    let name = describe(command);
    let finished = capture(command, deadline, false)?;
    if finished.success {
        return Ok(());
    }
    Err(format!(
        "{name} failed:\n{}\n{}",
        without_addresses(&finished.stdout),
        without_addresses(&finished.stderr)
    ))
}

/// Runs the command to its end and returns what it printed, which also goes to the terminal when `echo` is set.
/// Past the deadline the program is killed, and that is an error.
pub(crate) fn capture(command: &mut Command, deadline: Duration, echo: bool) -> Outcome<Finished> {
    let name = describe(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {name}: {error}"))?;
    let stdout = collect(child.stdout.take(), move |line| {
        if echo {
            print!("{line}");
        }
    });
    let stderr = collect(child.stderr.take(), move |line| {
        if echo {
            eprint!("{line}");
        }
    });
    let status = wait(&mut child, deadline);
    let stdout = stdout.join().unwrap_or_default();
    let stderr = stderr.join().unwrap_or_default();
    match status? {
        Some(success) => Ok(Finished { success, stdout, stderr }),
        None => Err(format!(
            "{name} did not end within {} s and was killed:\n{stdout}{stderr}",
            deadline.as_secs()
        )),
    }
}

/// Whether the child ended in success; `None` when the deadline passed and it was killed.
fn wait(child: &mut Child, deadline: Duration) -> Outcome<Option<bool>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(Some(status.success()));
        }
        if started.elapsed() > deadline {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn collect(
    stream: Option<impl Read + Send + 'static>,
    each: impl Fn(&str) + Send + 'static,
) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        let Some(stream) = stream else { return text };
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while matches!(stream.read_until(b'\n', &mut line), Ok(1..)) {
            let part = String::from_utf8_lossy(&line);
            each(&part);
            text.push_str(&part);
            line.clear();
        }
        text
    })
}

/// The command as one would type it.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    let words: Vec<_> =
        std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    words.join(" ")
}

/// The text with every word that holds a URL cut out: installers name the machine's registries, which concern nobody else.
fn without_addresses(text: &str) -> String {
    text.split_inclusive(char::is_whitespace)
        .map(|word| if word.contains("://") { "… " } else { word })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_past_its_deadline_is_killed_and_reported() {
        let started = Instant::now();
        let ended = capture(Command::new("sleep").arg("60"), Duration::from_millis(50), false);
        assert!(ended.is_err_and(|reason| reason.contains("was killed")));
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn addresses_are_cut_out_of_what_an_installer_says() {
        assert_eq!(without_addresses("GET https://a.example/x failed"), "GET … failed");
    }
}
