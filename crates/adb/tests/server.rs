//! What a client learns of the adb server and its devices, and what it is told when there is none.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat_adb::fake::{FakeAdb, FakeDevice};
use jumpseat_adb::{AdbServer, DeviceState, Error, ServerAddress, Started};
use support::{UnusedPort, answering, brief, device, until};

#[tokio::test]
async fn it_says_its_version_and_features() {
    let adb = FakeAdb::start().await.unwrap();
    assert_eq!(adb.server().version().await.unwrap(), 41);
    assert!(adb.server().features().await.unwrap().contains(&"shell_v2".to_owned()));
}

#[tokio::test]
async fn it_lists_its_devices() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("emulator-5554").model("Pixel_8"));
    adb.plug(FakeDevice::new("9B1FF0").state(DeviceState::Unauthorized));
    let devices = adb.server().devices().await.unwrap();
    let [emulator, phone] = devices.as_slice() else { panic!("{devices:?}") };
    assert_eq!((emulator.serial.as_str(), emulator.model.as_deref()), ("emulator-5554", Some("Pixel_8")));
    assert_eq!((emulator.transport_id, phone.transport_id), (1, 2));
    assert!(emulator.is_ready() && !phone.is_ready());
    assert_eq!(adb.server().device(None).await.unwrap(), *emulator);
    assert_eq!(adb.server().device_features(emulator).await.unwrap(), ["shell_v2", "cmd"]);
}

#[tokio::test]
async fn a_server_of_another_version_is_used_and_left_alone() {
    let adb = FakeAdb::start().await.unwrap();
    adb.set_version(40);
    let started = adb.server().start_if_absent(|| panic!("the server runs")).await.unwrap();
    assert_eq!(started, Started::Running);
    assert_eq!(adb.server().version().await.unwrap(), 40);
    adb.stop().await.unwrap();
    adb.set_version(41);
    adb.resume().await.unwrap();
    assert_eq!(adb.server().version().await.unwrap(), 41);
    assert!(adb.requests().iter().all(|request| request == "host:version"), "{:?}", adb.requests());
}

#[tokio::test]
async fn nothing_listens_there() {
    let unused = UnusedPort::bind();
    let server = AdbServer::new(ServerAddress::tcp("127.0.0.1", unused.number()));
    let error = server.version().await.unwrap_err();
    assert_eq!(error.code(), "adb-server-unreachable");
    assert!(error.to_string().contains(&server.address().to_string()), "{error}");
    assert!(error.hint().contains("adb start-server"));
}

#[tokio::test]
async fn the_first_answer_may_be_slow() {
    let adb = FakeAdb::start().await.unwrap();
    adb.hold();
    let server = adb.server();
    let (version, ()) = tokio::join!(server.version(), async {
        until("the request came", || !adb.requests().is_empty()).await;
        adb.release();
    });
    assert_eq!(version.unwrap(), 41);
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let adb = FakeAdb::start().await.unwrap();
    adb.hold();
    let error = adb.server().with_deadlines(brief()).version().await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    assert!(error.to_string().contains("the answer to `host:version` took more than 0.1 s"), "{error}");
}

#[tokio::test]
async fn another_program_is_told_from_an_adb_server() {
    let error = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.version().await.unwrap_err();
    assert!(matches!(&error, Error::NotAdb { got, .. } if got == "HTTP"), "{error}");
    let error = answering(b"OKAY+004beef").await.version().await.unwrap_err();
    assert!(matches!(&error, Error::NotAdb { got, .. } if got == "+004"), "{error}");
    let error = answering(b"OKAY0004what").await.version().await.unwrap_err();
    assert!(matches!(&error, Error::NotAdb { got, .. } if got == "what"), "{error}");
}

#[tokio::test]
async fn a_server_that_hangs_up_is_named_so() {
    for part in [&b""[..], b"OK", b"OKAY", b"OKAY0004", b"FAIL00"] {
        let error = answering(part).await.version().await.unwrap_err();
        assert_eq!(error.code(), "connection-ended", "{error}");
        assert!(error.to_string().contains("hung up before the answer to `host:version`"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_too_old_is_named_so() {
    let error = answering(b"FAIL0014unknown host service").await.features().await.unwrap_err();
    assert_eq!(error.code(), "adb-server-outdated");
    assert!(error.hint().contains("platform-tools"));
    let error = answering(b"OKAY0010emulator  device").await.devices().await.unwrap_err();
    assert_eq!(error.code(), "adb-server-outdated");
}

#[tokio::test]
async fn other_refusals_keep_the_servers_words() {
    let error = answering(b"FAIL0004ouch").await.version().await.unwrap_err();
    assert!(matches!(&error, Error::Rejected { reason, .. } if reason == "ouch"));
    assert!(error.to_string().ends_with("refused `host:version`: ouch"), "{error}");
}

#[tokio::test]
async fn devices_with_one_serial_are_both_reached() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("0123456789ABCDEF").model("A"));
    adb.plug(FakeDevice::new("0123456789ABCDEF").model("B").without("cmd"));
    let error = adb.server().device(None).await.unwrap_err();
    assert!(matches!(&error, Error::SeveralDevices { devices } if devices.len() == 2));
    assert!(error.hint().contains("share a serial number"), "{}", error.hint());
    let devices = adb.server().devices().await.unwrap();
    assert_eq!(adb.server().device_features(&devices[0]).await.unwrap(), ["shell_v2", "cmd"]);
    assert_eq!(adb.server().device_features(&devices[1]).await.unwrap(), ["shell_v2"]);
}

#[tokio::test]
async fn a_device_that_cannot_be_used_says_why() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone"));
    let phone = device(&adb, "phone").await;
    let permissions = "no permissions (user in plugdev group; are your udev rules wrong?); see [http://a.b]";
    for (state, code, hint) in [
        (DeviceState::Unauthorized, "device-unauthorized", "tap \"Allow\""),
        (DeviceState::Offline, "device-offline", "plug it in again"),
        (DeviceState::NoPermissions(permissions.to_owned()), "device-no-permissions", "udev"),
        (DeviceState::Other("recovery".to_owned()), "device-not-ready", "reboot"),
        (DeviceState::Other("authorizing".to_owned()), "device-not-ready", "wait"),
    ] {
        adb.set_state("phone", state).await;
        // Known since it was ready, and chosen now.
        for error in [
            adb.server().device_features(&phone).await.unwrap_err(),
            adb.server().device(Some("phone")).await.unwrap_err(),
        ] {
            assert_eq!(error.code(), code, "{error}");
            assert!(
                error.to_string().contains("phone") && error.hint().contains(hint),
                "{error}: {}",
                error.hint()
            );
        }
    }
    adb.unplug("phone").await;
    let error = adb.server().device_features(&phone).await.unwrap_err();
    assert_eq!(error.code(), "unknown-device");
    assert_eq!(adb.server().device(None).await.unwrap_err().code(), "no-device");
}

#[cfg(unix)]
#[tokio::test]
async fn it_is_reached_over_unix_sockets_too() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixListener;

    let path = std::env::temp_dir().join(format!("jumpseat-adb-test-{}", std::process::id()));
    let mut listeners =
        vec![(UnixListener::bind(&path).unwrap(), ServerAddress::LocalFilesystem(path.clone()))];
    if cfg!(any(target_os = "android", target_os = "linux")) {
        let name = format!("jumpseat-adb-test-{}", std::process::id());
        listeners
            .push((UnixListener::bind(format!("\0{name}")).unwrap(), ServerAddress::LocalAbstract(name)));
    }
    for (listener, address) in listeners {
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 16];
            stream.read_exact(&mut request).await.unwrap();
            assert_eq!(&request, b"000chost:version");
            stream.write_all(b"OKAY00040029").await.unwrap();
        };
        let server = AdbServer::new(address);
        let (version, ()) = tokio::join!(server.version(), serve);
        assert_eq!(version.unwrap(), 41);
    }
    std::fs::remove_file(path).unwrap();
}
