//! Commands on the device, and its abstract sockets.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use std::sync::Arc;

use jumpseat_adb::fake::{FakeAdb, FakeDevice, Service};
use jumpseat_adb::{Error, ShellOutput};
use support::{BRIEF, SOON, device};
use tokio::sync::Notify;

fn run(command: &str) -> Option<ShellOutput> {
    let (exit_code, stdout, stderr) = match command {
        "sleep 1000" => return None,
        "getprop ro.build.version.sdk" => (0, "34\n".into(), ""),
        "seq 100000" => (0, "x".repeat(600_000), ""),
        _ => (3, "out\n".to_owned(), "err\n"),
    };
    Some(ShellOutput::Separate { exit_code, stdout: stdout.into(), stderr: stderr.into() })
}

#[tokio::test]
async fn both_outputs_and_the_exit_code_come_back() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone").shell(run));
    let phone = device(&adb, "phone").await;
    let output = adb.server().shell(&phone, "anything", SOON).await.unwrap();
    assert_eq!(
        output,
        ShellOutput::Separate { exit_code: 3, stdout: b"out\n".to_vec(), stderr: b"err\n".to_vec() }
    );
    let output = adb.server().shell(&phone, "seq 100000", SOON).await.unwrap();
    assert_eq!(output.stdout().len(), 600_000);
}

#[tokio::test]
async fn an_old_device_mixes_the_outputs_and_says_so() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone").shell(run).without("shell_v2"));
    let phone = device(&adb, "phone").await;
    let output = adb.server().shell(&phone, "anything", SOON).await.unwrap();
    assert_eq!(output, ShellOutput::Merged(b"out\nerr\n".to_vec()));
}

#[tokio::test]
async fn a_command_that_does_not_end_is_given_up() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone").shell(run));
    let error = adb.server().shell(&device(&adb, "phone").await, "sleep 1000", BRIEF).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    assert!(error.to_string().contains("`sleep 1000` on phone"), "{error}");
}

#[tokio::test]
async fn a_device_that_goes_ends_the_command() {
    let adb = FakeAdb::start().await.unwrap();
    let begun = Arc::new(Notify::new());
    let begins = begun.clone();
    adb.plug(FakeDevice::new("phone").shell(move |_| {
        begins.notify_one();
        None
    }));
    let (phone, server) = (device(&adb, "phone").await, adb.server());
    let (output, ()) = tokio::join!(server.shell(&phone, "sleep 1000", SOON), async {
        begun.notified().await;
        adb.unplug("phone").await;
    });
    assert!(matches!(output, Err(Error::Ended { .. })), "{output:?}");
}

#[tokio::test]
async fn a_request_that_is_too_long_is_not_sent() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone"));
    let command = "x".repeat(70_000);
    let error = adb.server().shell(&device(&adb, "phone").await, &command, SOON).await.unwrap_err();
    assert!(matches!(error, Error::TooLong { .. }), "{error}");
}

#[tokio::test]
async fn the_devices_abstract_sockets_are_named() {
    let adb = FakeAdb::start().await.unwrap();
    let phone = FakeDevice::new("phone")
        .service("localabstract:jumpseat/com.example", Service::frozen())
        .service("tcp:8080", Service::frozen());
    adb.plug(phone.clone());
    adb.plug(phone.without("shell_v2"));
    for device in adb.server().devices().await.unwrap() {
        assert_eq!(adb.server().abstract_sockets(&device).await.unwrap(), ["jumpseat/com.example"]);
    }
}
