//! Starting an adb server where none answers, with scripts in place of `adb`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use jumpseat_adb::fake::FakeAdb;
use jumpseat_adb::{AdbBinary, AdbServer, Deadlines, Error, ServerAddress, Started};
use support::{BRIEF, UnusedPort, brief, until};

/// A folder of one test's own, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("jumpseat-adb-{test}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// A program that runs these lines of shell, in the folder.
    fn program(&self, lines: &str) -> AdbBinary {
        let path = self.0.join("adb");
        let text = format!("#!/bin/sh\ncd '{}' || exit\n{lines}\n", self.0.display());
        // Written by a process of its own: a file that a fork of this one has open for writing could not be
        // run.
        let write = "printf '%s' \"$1\" > \"$0\" && chmod +x \"$0\"";
        assert!(Command::new("sh").arg("-c").arg(write).arg(&path).arg(text).status().unwrap().success());
        AdbBinary::new(path)
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.0.join(name)).ok()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn where_nothing_answers_it_is_started_once() {
    let folder = Folder::new("start");
    let binary = folder.program("echo \"$@\" >> asked; while [ ! -e serving ]; do sleep 0.02; done");
    let unused = UnusedPort::bind();
    let port = unused.number();
    let server = AdbServer::new(ServerAddress::tcp("127.0.0.1", port));
    let (started, fake) = tokio::join!(server.start_if_absent(|| Ok(binary.clone())), async {
        until("adb was asked", || folder.read("asked").is_some_and(|asked| asked.ends_with('\n'))).await;
        drop(unused);
        let fake = FakeAdb::start_at(port).await.unwrap();
        fs::write(folder.0.join("serving"), "").unwrap();
        fake
    });
    assert_eq!(started.unwrap(), Started::ByUs(binary));
    // adb starts a server at `localhost` only.
    assert_eq!(folder.read("asked").unwrap(), format!("-L tcp:localhost:{port} start-server\n"));
    let again = server.start_if_absent(|| panic!("the server runs")).await.unwrap();
    assert_eq!(again, Started::Running);
    assert_eq!(fake.requests(), ["host:version", "host:version"]);
}

#[tokio::test]
async fn a_program_that_fails_is_quoted() {
    let folder = Folder::new("fails");
    let unused = UnusedPort::bind();
    let server = AdbServer::new(ServerAddress::tcp("localhost", unused.number()));
    let start = async |lines: &str| {
        let binary = folder.program(lines);
        server.start_if_absent(|| Ok(binary)).await.unwrap_err()
    };
    let error = start("echo 'cannot bind' >&2; exit 1").await;
    assert!(matches!(&error, Error::AdbFailed { reason, .. } if reason == "cannot bind"), "{error}");
    let error = start("exit 3").await;
    assert!(error.to_string().contains("start-server` failed: exit status: 3"), "{error}");
    let error = start("exit 0").await;
    assert_eq!(error.code(), "adb-server-unreachable", "{error}");
    let error = server.start_if_absent(|| Ok(AdbBinary::new("/nonexistent/adb"))).await.unwrap_err();
    assert_eq!(error.code(), "adb-failed", "{error}");
}

#[tokio::test]
async fn a_program_that_hangs_is_given_up() {
    let folder = Folder::new("hangs");
    let binary = folder.program("exec sleep 60");
    let unused = UnusedPort::bind();
    let server = AdbServer::new(ServerAddress::tcp("127.0.0.1", unused.number()));
    let server = server.with_deadlines(Deadlines { start: BRIEF, ..brief() });
    let error = server.start_if_absent(|| Ok(binary)).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn a_program_whose_server_holds_its_output_is_not_waited_for() {
    let folder = Folder::new("holds");
    let binary = folder.program("sleep 60 & echo $! > child; echo 'Android Debug Bridge version 1.0.41'");
    let version = binary.version().await.unwrap();
    assert_eq!((version.protocol, version.release), (41, None));
    let child = folder.read("child").unwrap();
    assert!(Command::new("kill").arg(child.trim()).status().unwrap().success());
}

#[tokio::test]
async fn nothing_is_started_where_something_listens_or_on_another_address() {
    let adb = FakeAdb::start().await.unwrap();
    adb.hold();
    let silent = adb.server().with_deadlines(brief());
    let error = silent.start_if_absent(|| panic!("something listens")).await.unwrap_err();
    assert_eq!(error.code(), "timeout", "{error}");
    let unused = UnusedPort::bind();
    let elsewhere = AdbServer::new(ServerAddress::tcp("127.0.0.2", unused.number()));
    let error = elsewhere.start_if_absent(|| panic!("adb would not start it there")).await.unwrap_err();
    assert_eq!(error.code(), "adb-server-unreachable", "{error}");
}

#[tokio::test]
async fn without_a_program_it_says_where_it_looked() {
    let folder = Folder::new("missing");
    let sdk = |sdk: &Path| {
        let sdk = sdk.as_os_str().to_owned();
        AdbBinary::find(move |name| (name == "ANDROID_HOME").then(|| sdk.clone()))
    };
    let error = sdk(&folder.0).unwrap_err();
    assert_eq!(error.code(), "adb-not-found");
    let expected = folder.0.join("platform-tools").join("adb");
    assert!(error.hint().contains(&*expected.to_string_lossy()), "{}", error.hint());
    fs::create_dir(folder.0.join("platform-tools")).unwrap();
    fs::write(&expected, "").unwrap();
    assert_eq!(sdk(&folder.0).unwrap().path(), expected);
}
