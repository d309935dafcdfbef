//! Device streams: an app is reached without a forward.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod support;

use jumpseat_adb::fake::{FakeAdb, FakeDevice, Service};
use jumpseat_adb::{DeviceState, Endpoint, Error, first_answer};
use support::{BRIEF, SOON, UnusedPort, device};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const APP: Endpoint = Endpoint::Tcp(8080);

async fn with_phone(app: Service) -> FakeAdb {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone").service("tcp:8080", app));
    adb
}

#[tokio::test]
async fn bytes_go_both_ways() {
    let adb = with_phone(Service::echo()).await;
    let mut stream = adb.server().open(&device(&adb, "phone").await, &APP).await.unwrap();
    for size in [1, 1_000, 100_000] {
        let sent: Vec<u8> = (0..=u8::MAX).cycle().take(size).collect();
        let mut back = vec![0; size];
        let (mut from, mut to) = tokio::io::split(&mut stream);
        let (read, written) = tokio::join!(from.read_exact(&mut back), to.write_all(&sent));
        read.unwrap();
        written.unwrap();
        assert!(sent == back);
    }
    assert_eq!(adb.forwards(), [], "nothing is left behind");
}

#[tokio::test]
async fn a_server_in_this_process_can_stand_behind_a_device() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let adb = with_phone(Service::port(listener.local_addr().unwrap().port())).await;
    let phone = device(&adb, "phone").await;
    let mut stream = adb.server().open(&phone, &APP).await.unwrap();
    let (mut app, _) = listener.accept().await.unwrap();
    let (answer, ()) = tokio::join!(first_answer(&mut stream, b"hello", SOON), async {
        let mut request = [0; 5];
        app.read_exact(&mut request).await.unwrap();
        app.write_all(&request).await.unwrap();
    });
    assert_eq!(answer.unwrap(), b"hello");
    drop(listener);
    let error = adb.server().open(&phone, &APP).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
}

#[tokio::test]
async fn nothing_listens_there() {
    let unused = UnusedPort::bind();
    let adb = with_phone(Service::port(unused.number())).await;
    let phone = device(&adb, "phone").await;
    for endpoint in [APP, Endpoint::Tcp(8081), Endpoint::LocalAbstract("app".into())] {
        let error = adb.server().open(&phone, &endpoint).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{error}");
        assert_eq!(error.to_string(), format!("nothing listens at {endpoint} on phone"));
        assert!(error.hint().contains("start the app"));
    }
}

#[tokio::test]
async fn a_frozen_app_takes_the_connection_and_stays_silent() {
    let adb = with_phone(Service::frozen()).await;
    let mut stream = adb.server().open(&device(&adb, "phone").await, &APP).await.unwrap();
    let error = first_answer(&mut stream, b"hello", BRIEF).await.unwrap_err();
    assert!(matches!(error, Error::Silent { .. }), "{error}");
}

#[tokio::test]
async fn an_app_that_dies_ends_its_streams() {
    let adb = with_phone(Service::handler(|stream| async { drop(stream) })).await;
    let mut stream = adb.server().open(&device(&adb, "phone").await, &APP).await.unwrap();
    let error = first_answer(&mut stream, b"hello", SOON).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error}");
}

#[tokio::test]
async fn a_device_that_goes_ends_its_streams() {
    let adb = with_phone(Service::echo()).await;
    let phone = device(&adb, "phone").await;
    let open = async || adb.server().open(&device(&adb, "phone").await, &APP).await.unwrap();
    let mut stream = open().await;
    adb.reboot("phone").await;
    let error = first_answer(&mut stream, b"hello", SOON).await.unwrap_err();
    assert!(matches!(error, Error::Unanswered { .. }), "{error}");
    // It is back under another transport id, which does not matter.
    let mut stream = adb.server().open(&phone, &APP).await.unwrap();
    first_answer(&mut stream, b"hello", SOON).await.unwrap();
    adb.set_state("phone", DeviceState::Offline).await;
    first_answer(&mut stream, b"hello", SOON).await.unwrap_err();
    adb.set_state("phone", DeviceState::Ready).await;
    let mut stream = open().await;
    adb.stop().await.unwrap();
    first_answer(&mut stream, b"hello", SOON).await.unwrap_err();
}

#[tokio::test]
async fn a_transport_id_from_before_a_restart_leads_to_no_other_device() {
    let adb = FakeAdb::start().await.unwrap();
    adb.plug(FakeDevice::new("phone").service("tcp:8080", Service::echo()));
    adb.plug(FakeDevice::new("tablet").service("tcp:8080", Service::echo()));
    let phone = device(&adb, "phone").await;
    adb.unplug("phone").await;
    adb.stop().await.unwrap();
    adb.resume().await.unwrap();
    assert_eq!(device(&adb, "tablet").await.transport_id, phone.transport_id);
    let error = adb.server().open(&phone, &APP).await.unwrap_err();
    assert!(matches!(&error, Error::UnknownDevice { serial, .. } if serial == "phone"), "{error}");
}

#[tokio::test]
async fn a_device_that_cannot_be_used_says_why() {
    let adb = with_phone(Service::echo()).await;
    let phone = device(&adb, "phone").await;
    for (state, code) in [
        (DeviceState::Unauthorized, "device-unauthorized"),
        (DeviceState::Offline, "device-offline"),
        (DeviceState::NoPermissions("no permissions".into()), "device-no-permissions"),
        (DeviceState::Other("sideload".into()), "device-not-ready"),
    ] {
        adb.set_state("phone", state).await;
        assert_eq!(adb.server().open(&phone, &APP).await.unwrap_err().code(), code);
    }
}
