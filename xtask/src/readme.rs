//! Runs what the README tells a newcomer to run, as it stands there.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::Outcome;
use crate::process::root;

/// The line by which the demo says that it can be called.
const SERVING: &str = "Serving until Ctrl-C.";

/// Starts the README's demo, runs its `curl` against it, and stops it as Ctrl-C does. (`cargo xtask test`, its
/// third command, is a step of its own.)
pub(crate) fn run() -> Outcome {
    let readme =
        fs::read_to_string(root().join("README.md")).map_err(|error| format!("README.md: {error}"))?;
    let commands = shell_commands(&readme);
    let [demo, test, curl] = commands.as_slice() else {
        return Err(format!("README.md has other sh blocks than demo, test and curl: {commands:?}"));
    };
    if test != "cargo xtask test" {
        return Err(format!("README.md says {test:?} where `cargo xtask test` was"));
    }
    let demo = Demo::start(demo)?;
    let answer = output(curl)?;
    if !answer.contains(r#""name":"device_info""#) || !answer.contains(r#""name":"add_todo""#) {
        return Err(format!("`{curl}` does not list the tools; is another program on port 8080? {answer:?}"));
    }
    println!("{curl}\n{} bytes of tools", answer.len());
    demo.stop()
}

/// The blocks that are marked as `sh`, without their ends of line.
fn shell_commands(markdown: &str) -> Vec<String> {
    let blocks = markdown.split("```sh\n").skip(1);
    blocks.filter_map(|block| block.split("\n```").next()).map(str::to_owned).collect()
}

fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(root()).stdin(Stdio::null());
    shell
}

fn output(command: &str) -> Outcome<String> {
    let output = shell(command).output().map_err(|error| format!("`{command}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{command}` fails: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The demo, until it is dropped.
struct Demo(Child);

impl Demo {
    fn start(command: &str) -> Outcome<Self> {
        // The shell becomes the program, so that the signal reaches it.
        let child = shell(&format!("exec {command}")).stdout(Stdio::piped()).spawn();
        let mut demo = Self(child.map_err(|error| format!("`{command}`: {error}"))?);
        let stdout = demo.0.stdout.take().ok_or("the demo has no stdout")?;
        for line in BufReader::new(stdout).lines() {
            let line = line.map_err(|error| format!("the demo's output: {error}"))?;
            println!("{line}");
            if line == SERVING {
                return Ok(demo);
            }
        }
        Err(format!("`{command}` ended before it served"))
    }

    fn stop(mut self) -> Outcome {
        // `cargo run` stays in between, and passes Ctrl-C on only to its own process group: signal the child.
        output(&format!("kill -INT $(cat /proc/{0}/task/{0}/children) {0}", self.0.id()))?;
        let status = self.0.wait().map_err(|error| format!("the demo: {error}"))?;
        // Interrupted, as a user does it: cargo itself ends by the signal.
        println!("the demo ended: {status}");
        Ok(())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It has ended already where all went well.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sh_blocks_are_commands() {
        let markdown = "a\n```sh\none\n```\n```text\ntwo\n```\n```sh\nthree\n```\n";
        assert_eq!(shell_commands(markdown), ["one", "three"]);
    }
}
